// Written by web/build: the files of the page.
[
    ("chunk-SFSRWIOO.js", include_bytes!("chunk-SFSRWIOO.js").as_slice()),
    ("chunk-ZU3VWCH2.js", include_bytes!("chunk-ZU3VWCH2.js").as_slice()),
    ("files.json", include_bytes!("files.json").as_slice()),
    ("grants-EESDZLQJ.js", include_bytes!("grants-EESDZLQJ.js").as_slice()),
    ("history-35UIBEDJ.js", include_bytes!("history-35UIBEDJ.js").as_slice()),
    ("icon.svg", include_bytes!("icon.svg").as_slice()),
    ("index.html", include_bytes!("index.html").as_slice()),
    ("insights-DQMZNLSI.js", include_bytes!("insights-DQMZNLSI.js").as_slice()),
    ("ledger-HRIQOTXR.js", include_bytes!("ledger-HRIQOTXR.js").as_slice()),
    ("page-BAXFAD4B.js", include_bytes!("page-BAXFAD4B.js").as_slice()),
    ("people-RU2AJSJK.js", include_bytes!("people-RU2AJSJK.js").as_slice()),
    ("reviews-AGEO7N6B.js", include_bytes!("reviews-AGEO7N6B.js").as_slice()),
    ("rules-LWPDGERU.js", include_bytes!("rules-LWPDGERU.js").as_slice()),
    ("settings-YA6XTKIK.js", include_bytes!("settings-YA6XTKIK.js").as_slice()),
    ("style-BFC3DE45.css", include_bytes!("style-BFC3DE45.css").as_slice()),
    ("talk-K6BFIHLF.js", include_bytes!("talk-K6BFIHLF.js").as_slice()),
]

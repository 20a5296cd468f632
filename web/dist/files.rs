// Written by web/build: the files of the page.
[
    ("chunk-P45D6JEH.js", include_bytes!("chunk-P45D6JEH.js").as_slice()),
    ("chunk-PYIJFSTL.js", include_bytes!("chunk-PYIJFSTL.js").as_slice()),
    ("files.json", include_bytes!("files.json").as_slice()),
    ("grants-IRKGRGOX.js", include_bytes!("grants-IRKGRGOX.js").as_slice()),
    ("history-D7GWO2AX.js", include_bytes!("history-D7GWO2AX.js").as_slice()),
    ("icon.svg", include_bytes!("icon.svg").as_slice()),
    ("index.html", include_bytes!("index.html").as_slice()),
    ("insights-FDAH3PNL.js", include_bytes!("insights-FDAH3PNL.js").as_slice()),
    ("ledger-DDOXNGQO.js", include_bytes!("ledger-DDOXNGQO.js").as_slice()),
    ("page-EBGI3SBA.js", include_bytes!("page-EBGI3SBA.js").as_slice()),
    ("people-R2NEEZEV.js", include_bytes!("people-R2NEEZEV.js").as_slice()),
    ("reviews-72SVTBLG.js", include_bytes!("reviews-72SVTBLG.js").as_slice()),
    ("rules-IQNR6OBV.js", include_bytes!("rules-IQNR6OBV.js").as_slice()),
    ("settings-LHUMMLSR.js", include_bytes!("settings-LHUMMLSR.js").as_slice()),
    ("style-BFC3DE45.css", include_bytes!("style-BFC3DE45.css").as_slice()),
    ("talk-PRLA72OL.js", include_bytes!("talk-PRLA72OL.js").as_slice()),
]

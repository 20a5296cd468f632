// Written by web/build: the files of the page.
[
    ("chunk-NGAGX7Q5.js", include_bytes!("chunk-NGAGX7Q5.js").as_slice()),
    ("chunk-YDES2B3S.js", include_bytes!("chunk-YDES2B3S.js").as_slice()),
    ("files.json", include_bytes!("files.json").as_slice()),
    ("grants-2HYXJDUJ.js", include_bytes!("grants-2HYXJDUJ.js").as_slice()),
    ("history-DOOV3R4Q.js", include_bytes!("history-DOOV3R4Q.js").as_slice()),
    ("icon.svg", include_bytes!("icon.svg").as_slice()),
    ("index.html", include_bytes!("index.html").as_slice()),
    ("insights-CWO3TVT6.js", include_bytes!("insights-CWO3TVT6.js").as_slice()),
    ("ledger-JXZOTQPN.js", include_bytes!("ledger-JXZOTQPN.js").as_slice()),
    ("page-G2E4EPRC.js", include_bytes!("page-G2E4EPRC.js").as_slice()),
    ("people-WUXGE73J.js", include_bytes!("people-WUXGE73J.js").as_slice()),
    ("reviews-TM26D6QC.js", include_bytes!("reviews-TM26D6QC.js").as_slice()),
    ("rules-UT6AH4ND.js", include_bytes!("rules-UT6AH4ND.js").as_slice()),
    ("settings-7LOBPSDB.js", include_bytes!("settings-7LOBPSDB.js").as_slice()),
    ("style-BFC3DE45.css", include_bytes!("style-BFC3DE45.css").as_slice()),
    ("talk-BU26TXF6.js", include_bytes!("talk-BU26TXF6.js").as_slice()),
]

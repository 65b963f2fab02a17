use std::io::BufReader;

use super::http::answer;
use crate::{Bench, BenchAsked, trial};

fn read(text: &str) -> Result<(u16, String), String> {
    let answer = answer(&mut BufReader::new(text.as_bytes())).map_err(|e| e.to_string())?;
    Ok((answer.status, String::from_utf8(answer.body).unwrap()))
}

#[test]
fn answers_come_whole_or_in_chunks() {
    assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd"), Ok((200, "abc".to_owned())));
    assert_eq!(read("HTTP/1.1 204 No Content\r\nx: y\r\n\r\n"), Ok((204, String::new())));
    let chunks =
        "HTTP/1.1 404 No\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";
    assert_eq!(read(chunks), Ok((404, "abc0123456789".to_owned())));
    for odd in
        ["", "HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "HTTP/1.1 200 OK\r\n"]
    {
        assert!(read(odd).is_err(), "{odd}");
    }
}

#[test]
fn the_quick_set_is_small_and_the_core_set_has_what_is_asked() {
    let asked = BenchAsked::default();
    let [core, quick] = trial::sets("service", &asked);
    let names = |set: &[crate::Case<'_>]| {
        set.iter().map(|case| (case.name.clone(), case.params.integer("at_once"))).collect::<Vec<_>>()
    };
    assert_eq!(quick.len(), 4, "{:?}", names(&quick));
    for wanted in [("comparison", 1), ("jobs", 1), ("jobs", 64), ("upload", 0), ("idle", 0)] {
        assert!(names(&core).contains(&(wanted.0.to_owned(), Some(wanted.1))), "{wanted:?}");
    }
    assert!(core.iter().any(|case| trial::has(case, "what=ready,history=10000")));
    let bench: &Bench = super::BENCHES.first().unwrap();
    assert_eq!(bench.name, "service");
}

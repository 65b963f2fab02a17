//! Many jobs, one after another and at the same time.

use crate::{
    rig::{Rig, logs},
    support::{LONG, Line, held, number},
};
use serde_json::Value;
use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

/// A client with a connection to each party.
struct Guest {
    lines: Vec<Line>,
    token: String,
}

impl Guest {
    async fn new(rig: &Rig, number: u8) -> Self {
        let mut lines = vec![];
        for party in 0..3 {
            lines.push(Line::to(rig, party, Ipv4Addr::new(127, 0, 2, number)).await.expect("a connection"));
        }
        Self { lines, token: format!("Bearer {}", rig.token("analyst")) }
    }

    /// Asks a party, and again while it answers that there were too many requests.
    async fn ask(
        &mut self,
        party: usize,
        (method, path): (&str, &str),
        key: &str,
        body: &[u8],
    ) -> Result<Value, String> {
        let headers = [("authorization", &*self.token), ("idempotency-key", key)];
        loop {
            let answer = self.lines[party].ask(method, path, &headers, body.to_vec()).await;
            let answer = answer.map_err(|e| e.to_string())?;
            if answer.status.is_success() {
                return Ok(answer.json());
            }
            if answer.status.as_u16() != 429 {
                return Err(String::from_utf8_lossy(&answer.bytes).into_owned());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Runs one job until it has ended at all parties.
    async fn job(&mut self, key: &str, body: &Value, pause: Duration) -> Result<(), String> {
        let body = body.to_string().into_bytes();
        let mut id = String::new();
        for party in 0..self.lines.len() {
            let view = self.ask(party, ("POST", "/v1/jobs"), key, &body).await?;
            view["id"].as_str().unwrap_or_default().clone_into(&mut id);
        }
        let (path, until) = (format!("/v1/jobs/{id}"), Instant::now() + LONG);
        for party in 0..self.lines.len() {
            loop {
                let view = self.ask(party, ("GET", &path), key, &[]).await?;
                match view["state"].as_str() {
                    Some("committed") => break,
                    Some("failed" | "cancelled") => return Err(view.to_string()),
                    _ if Instant::now() > until => return Err(format!("no end: {view}")),
                    _ => tokio::time::sleep(pause).await,
                }
            }
        }
        Ok(())
    }
}

fn daemons(rig: &Rig) -> Vec<(u64, usize)> {
    (0..3).map(|party| held(rig.parties[party].as_ref().expect("it runs").0.id())).collect()
}

/// Each guest runs two jobs; all guests run at the same time.
fn together(rig: &Rig, at_once: u8) {
    let body = rig.job();
    let begun = Instant::now();
    rig.runtime.block_on(async {
        let mut guests = tokio::task::JoinSet::new();
        for n in 0..at_once {
            let (mut guest, body) = (Guest::new(rig, 2 + n).await, body.clone());
            guests.spawn(async move {
                for _ in 0..2 {
                    // All guests use one token, which may send 500 requests a second.
                    guest.job(&Rig::fresh_key(), &body, Duration::from_millis(250)).await?;
                }
                Ok::<(), String>(())
            });
        }
        while let Some(ended) = guests.join_next().await {
            ended.expect("no panic").unwrap_or_else(|e| panic!("{e} {}", logs(rig.dir.path())));
        }
    });
    let rate = 2.0 * f64::from(at_once) / begun.elapsed().as_secs_f64();
    // Connections and threads that are kept for a while are released by then.
    std::thread::sleep(Duration::from_secs(12));
    eprintln!("held after {at_once} at once: {:?}, {rate:.1}/s", daemons(rig));
}

fn in_sequence(rig: &Rig, jobs: u64) {
    let body = rig.job();
    let begun = Instant::now();
    rig.runtime.block_on(async {
        let mut guest = Guest::new(rig, 1).await;
        for n in 0..jobs {
            if let Err(e) = guest.job(&Rig::fresh_key(), &body, Duration::from_millis(5)).await {
                panic!("job {n}: {e} {}", logs(rig.dir.path()));
            }
        }
    });
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    eprintln!("held after {jobs} one after the other: {:?}, {rate:.1}/s", daemons(rig));
}

fn many(jobs: u64, at_once: u8) {
    let mut rig = Rig::up().apart();
    rig.all_up();
    // After these jobs, everything that is kept once exists, also for jobs at the same time. From
    // the second crowd on, memory must not grow.
    let warm = 500.min(jobs / 2);
    in_sequence(&rig, warm);
    (0..2).for_each(|_| together(&rig, at_once));
    let first = daemons(&rig);
    in_sequence(&rig, jobs - warm);
    together(&rig, at_once);
    for (party, (first, last)) in first.into_iter().zip(daemons(&rig)).enumerate() {
        eprintln!("party {party}: {} to {} KiB, {} to {} descriptors", first.0, last.0, first.1, last.1);
        assert!(last.0 as f64 <= first.0 as f64 * 1.1, "memory of party {party} grows");
        assert!(last.1 <= first.1 + 8, "party {party} leaves descriptors open");
    }
    rig.restart_and_compare_blobs();
}

/// `HUSHWIRE_JOBS` is the number of jobs.
#[test]
#[ignore = "half an hour: run by --full"]
fn ten_thousand_jobs_leave_neither_memory_nor_descriptors() {
    many(number("HUSHWIRE_JOBS", 10_000), 64);
}

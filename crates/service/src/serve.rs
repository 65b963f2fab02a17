//! A party's service from start to end.

use crate::{attempt, config::Config, party::Party, peer_api, peers, policy_dir, scheduler, server, workers};
use hushwire_fault::{Fault, code};
use std::{io::Read, sync::Arc, time::Duration};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

/// LOCAL: the pause before a party greets a peer again that is not up.
const GREET_AGAIN: Duration = Duration::from_millis(300);
/// LOCAL: how often blobs are swept.
const SWEEP: Duration = Duration::from_secs(600);
/// LOCAL: how often the pool of waiting workers is checked.
const EXPIRE: Duration = Duration::from_secs(5);
/// LOCAL: how often the store is checked.
const CHECK: Duration = Duration::from_secs(86_400);
/// LOCAL: the most connections of daemons that wait for an answer.
const WAITING: usize = 64;
/// LOCAL: how long open connections may take at the end.
const LAST: Duration = Duration::from_millis(300);

/// The runtime whose threads answer requests.
pub(crate) fn runtime() -> Result<Runtime, Fault> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|e| Fault::internal("starting", e))
}

/// Runs a party until SIGTERM or SIGINT. With `attended`, it also ends when stdin closes.
pub(crate) fn run(config: Config, attended: bool) -> Result<(), Fault> {
    workers::remember_program()?;
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let port = config.listen_party.clone();
        serve(Arc::new(Party::open(config, &port).await?), attended).await
    });
    // Tasks that still wait for something end with the runtime.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

async fn serve(party: Arc<Party>, attended: bool) -> Result<(), Fault> {
    let api = server::bind(&party.config.listen_api).await?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|e| Fault::internal("starting", e))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|e| Fault::internal("starting", e))?;
    // Nothing runs yet, so a blob without a row is a leftover.
    let swept = party.sweep().await?;
    if party.decides() {
        scheduler::resume(&party).await?;
    } else {
        attempt::resume(&party).await?;
    }
    tracing::info!(
        party = party.config.party,
        group = party.config.group,
        url = party.config.url,
        listen_party = party.config.listen_party,
        swept,
        "this party is up"
    );
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(server::clients(party.clone(), api));
    tasks.spawn(server::parties(party.clone(), receive(&party)));
    for peer in party.peers.numbers() {
        tokio::spawn(greet(party.clone(), peer));
    }
    if party.decides() {
        tokio::spawn(scheduler::run(party.clone()));
    } else {
        tokio::spawn(reconcile(party.clone()));
    }
    tokio::spawn(tidy(party.clone()));
    tokio::spawn(expire(party.clone()));
    tokio::spawn(rotate(party.clone()));
    tokio::spawn(policy_dir::watch(party.clone()));
    tasks.spawn(check(party.clone()));
    let quick = tokio::select! {
        _ = terminate.recv() => false,
        _ = interrupt.recv() => true,
        () = closed(attended) => true,
        ended = tasks.join_next() => {
            let ended = ended.and_then(Result::ok).unwrap_or_else(|| Err(Fault::internal("serving", "a task panicked")));
            return ended;
        }
    };
    party.drain();
    let drain = if quick { Duration::from_secs(2) } else { party.config.drain };
    tracing::info!(running = party.running(), seconds = drain.as_secs(), "ending: attempts that run may end");
    tokio::select! {
        () = party.idle(drain) => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    tokio::time::sleep(LAST).await;
    Ok(())
}

/// Opens the party port: returns connections of daemons, and passes connections of attempts to
/// their workers.
fn receive(party: &Arc<Party>) -> mpsc::Receiver<server::Accepted> {
    let (send, accepted) = mpsc::channel(WAITING);
    party.reception.route(&peers::name(&party.config.group), move |stream, first| {
        send.try_send((stream, first)).map_err(std::io::Error::other)
    });
    let reception = party.reception.clone();
    // The thread lives as long as the process.
    std::thread::spawn(move || reception.run(|e| tracing::warn!("the party port: {e}")));
    accepted
}

/// Waits until stdin closes, if `attended`; otherwise for ever.
async fn closed(attended: bool) {
    if !attended {
        return std::future::pending().await;
    }
    let (tell, told) = tokio::sync::oneshot::channel();
    // A thread, not a blocking task, because a runtime waits for its blocking tasks.
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        while matches!(std::io::stdin().read(&mut rest), Ok(n) if n > 0) {}
        // The service may have ended by itself.
        let _ = tell.send(());
    });
    let _ = told.await;
}

/// Greets a peer at intervals.
async fn greet(party: Arc<Party>, peer: u8) {
    // Decisions up to this entry of this party's log were compared with the peer's.
    let (mut told, mut compared) = (String::new(), None);
    loop {
        let met = async {
            let hello = peer_api::hello(&party).await?;
            let told = hello.said.clone();
            let answer = party.peers.post(peer, "/peer/v1/hello", &hello).await?;
            let answer = peer_api::read_hello(peer, answer)?;
            let head = answer.head;
            peer_api::met(&party, peer, answer).await?;
            party.announced(peer, &told).await?;
            party.compare_log(peer, head).await?;
            if !party.decides() && peer != 0 {
                compared = party.show_decisions(peer, compared).await?;
            }
            party.compare_heads(peer).await
        };
        let pause = match met.await {
            Ok(()) => {
                if told != "up" {
                    tracing::info!(peer, "is up");
                }
                told = "up".to_owned();
                party.config.greet
            }
            Err(e) => {
                let text = e.to_string();
                if told != text {
                    tracing::warn!(peer, "{text}");
                }
                told = text;
                // Asking again does not mend a log that contradicts itself.
                if e.code() == code::UNSAFE { party.config.greet } else { GREET_AGAIN }
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Asks party 0 about jobs that make no progress here.
async fn reconcile(party: Arc<Party>) {
    loop {
        tokio::time::sleep(party.config.greet).await;
        if let Err(e) = attempt::reconcile(&party).await {
            tracing::debug!("party 0 cannot be asked about jobs: {e}");
        }
    }
}

/// Loads keys that a command has made.
async fn rotate(party: Arc<Party>) {
    loop {
        tokio::time::sleep(party.config.greet).await;
        if let Err(e) = party.take_up_keys().await {
            tracing::warn!("keys of the store cannot be taken up: {e}");
        }
    }
}

/// Checks each day that the store is sound. A damaged store ends the service: going on would lose
/// more.
async fn check(party: Arc<Party>) -> Result<(), Fault> {
    loop {
        tokio::time::sleep(CHECK).await;
        match party.store.check().await {
            // Another process may have locked the store for a moment.
            Err(e) if e.cause().contains("damaged") => return Err(e),
            Err(e) => tracing::warn!("the store cannot be checked: {e}"),
            Ok(()) => tracing::info!("the store is sound"),
        }
    }
}

/// Ends workers that have waited for long.
async fn expire(party: Arc<Party>) {
    loop {
        tokio::time::sleep(EXPIRE).await;
        party.pool.expire();
    }
}

/// Removes expired results and blobs while nothing runs.
async fn tidy(party: Arc<Party>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        if party.running() == 0
            && let Err(e) = party.sweep().await
        {
            tracing::warn!("{e}");
        }
    }
}

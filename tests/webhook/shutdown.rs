//! The program ends without anybody noticing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::client::{Http, Pool};
use super::running::{Program, good, is_allowed, is_ready};

#[tokio::test]
async fn sigterm_drains_and_exits_with_0() {
    let mut program = Program::start(1);
    program.ready().await;
    let mut pool = Pool::new(program.address, Http::One);
    assert!(is_allowed(&pool.post("/validate", good()).await.unwrap().1));
    program.signal("TERM");
    while is_ready(program.plain).await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Not ready, but still serving, also on new connections.
    assert!(is_allowed(&pool.post("/validate", good()).await.unwrap().1));
    assert!(pool.open.is_none(), "the server asks for the connection to be closed");
    assert!(is_allowed(&pool.post("/validate", good()).await.unwrap().1));
    assert_eq!(program.exit().await.code(), Some(0));
}

#[tokio::test]
async fn a_second_sigint_exits_at_once() {
    let mut program = Program::start(60);
    program.ready().await;
    program.signal("INT");
    while is_ready(program.plain).await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let begin = Instant::now();
    program.signal("INT");
    assert_eq!(program.exit().await.code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// Passes connections on to one of the programs that were ready when it last looked, as a Service does.
#[derive(Clone, Default)]
struct Service {
    /// TLS and plain address of each program, and whether it is ready.
    endpoints: Arc<Mutex<Vec<(SocketAddr, SocketAddr, bool)>>>,
}

impl Service {
    fn add(&self, program: &Program) {
        self.endpoints.lock().unwrap().push((program.address, program.plain, false));
    }

    fn remove(&self, program: &Program) {
        self.endpoints.lock().unwrap().retain(|(address, ..)| *address != program.address);
    }

    fn knows_as(&self, program: &Program) -> bool {
        self.endpoints.lock().unwrap().iter().any(|(a, _, ready)| *a == program.address && *ready)
    }

    async fn probe(self) {
        loop {
            let all = self.endpoints.lock().unwrap().clone();
            for (address, plain, _) in all {
                let now = is_ready(plain).await;
                for endpoint in self.endpoints.lock().unwrap().iter_mut().filter(|e| e.0 == address) {
                    endpoint.2 = now;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn pass_on(self, listener: TcpListener) {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let ready = self.endpoints.lock().unwrap().iter().find(|e| e.2).map(|e| e.0);
            tokio::spawn(async move {
                if let Some(address) = ready
                    && let Ok(mut server) = TcpStream::connect(address).await
                {
                    // Or else what is written in two parts waits for an acknowledgement in between.
                    let _ = (client.set_nodelay(true), server.set_nodelay(true));
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    }

    async fn wait(&self, program: &Program, ready: bool) {
        while self.knows_as(program) != ready {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// As many as take the time that ten thousand requests take.
const REPLACEMENTS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_of_ten_thousand_fails_while_the_process_is_replaced() {
    let service = Service::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut background = JoinSet::new();
    background.spawn(service.clone().probe());
    background.spawn(service.clone().pass_on(listener));
    let mut program = Program::start(1);
    service.add(&program);
    service.wait(&program, true).await;

    let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut workers = JoinSet::new();
    for worker in 0..4 {
        let mut pool = Pool::new(address, if worker % 2 == 0 { Http::One } else { Http::Two });
        let over = over.clone();
        workers.spawn(async move {
            let mut sent = 0;
            while sent < 2500 || !over.load(std::sync::atomic::Ordering::Relaxed) {
                let (_, body) =
                    pool.post("/validate", good()).await.unwrap_or_else(|e| panic!("{sent}: {e:?}"));
                assert!(is_allowed(&body));
                sent += 1;
                // Idle at times, so that connections are also closed between requests.
                tokio::time::sleep(Duration::from_millis(sent % 8)).await;
            }
            sent
        });
    }
    for _ in 0..REPLACEMENTS {
        let next = Program::start(1);
        service.add(&next);
        service.wait(&next, true).await;
        program.signal("TERM");
        assert_eq!(program.exit().await.code(), Some(0));
        service.remove(&program);
        program = next;
    }
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut sent = 0;
    while let Some(done) = workers.join_next().await {
        sent += done.unwrap();
    }
    assert!(sent >= 10_000);
}

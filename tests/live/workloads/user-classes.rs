// SPDX-License-Identifier: GPL-2.0-only
//! user-classes-rust CASE: as user-classes.c, with what the standard library of Rust has.
use std::io::Read;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

const THREADS: usize = 3;

static MUTEX: Mutex<i32> = Mutex::new(0);
static RWLOCK: RwLock<i32> = RwLock::new(0);
static CONDVAR: Condvar = Condvar::new();
static ONCE: Once = Once::new();
static CELL: OnceLock<i32> = OnceLock::new();
static INSIDE: AtomicBool = AtomicBool::new(false);

fn forever<T>(_: T) -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

fn initialize() -> i32 {
    INSIDE.store(true, Ordering::SeqCst);
    forever(())
}

fn start(name: &str, wait: impl Fn() + Send + Sync + 'static) {
    let wait = Arc::new(wait);
    for _ in 0..THREADS {
        let wait = wait.clone();
        thread::Builder::new().name(name.to_string()).spawn(move || wait()).unwrap();
    }
}

/// One thread is in the initialization for good.
fn begin_inside(run: fn()) {
    thread::spawn(run);
    while !INSIDE.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
}

fn until_end() -> ! {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    exit(0)
}

fn run(name: &str) -> ! {
    match name {
        "L-mutex" => {
            let _held = MUTEX.lock().unwrap();
            start(name, || forever(MUTEX.lock().unwrap()));
            until_end()
        }
        "L-write" => {
            let _held = RWLOCK.read().unwrap();
            start(name, || forever(RWLOCK.write().unwrap()));
            until_end()
        }
        "L-read" => {
            let _held = RWLOCK.write().unwrap();
            start(name, || forever(RWLOCK.read().unwrap()));
            until_end()
        }
        "W-condvar" => start(name, || forever(CONDVAR.wait(MUTEX.lock().unwrap()).unwrap())),
        "W-cond-timed" => start(name, || {
            let _ = CONDVAR.wait_timeout(MUTEX.lock().unwrap(), Duration::from_secs(3600));
        }),
        "W-park" => start(name, || loop {
            thread::park()
        }),
        "W-park-timed" => start(name, || thread::park_timeout(Duration::from_secs(3600))),
        "W-once" => {
            begin_inside(|| ONCE.call_once(|| forever(initialize())));
            start(name, || ONCE.call_once(|| ()))
        }
        "W-cell" => {
            begin_inside(|| forever(CELL.get_or_init(initialize)));
            start(name, || forever(CELL.get_or_init(initialize)))
        }
        "W-barrier" => {
            let all = Arc::new(Barrier::new(THREADS + 1));
            start(name, move || {
                all.wait();
            })
        }
        "W-channel" => start(name, || {
            let (_to, from) = mpsc::channel::<i32>();
            let _ = from.recv();
        }),
        "W-join" => start(name, || {
            let _ = thread::Builder::new().name("joined".to_string()).spawn(|| forever(())).unwrap().join();
        }),
        _ => exit(2),
    }
    until_end()
}

fn main() {
    match std::env::args().nth(1) {
        Some(name) => run(&name),
        None => println!(
            "L-mutex\nL-write\nL-read\nW-condvar\nW-cond-timed\nW-park\nW-park-timed\nW-once\nW-cell\nW-barrier\n\
             W-channel\nW-join"
        ),
    }
}

// SPDX-License-Identifier: GPL-2.0-only
//! user-log-rust SECONDS: as user-log.c, with the locks of the standard library of Rust.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

const THREADS: usize = 3;
const CLOCK_MONOTONIC: i32 = 1;
const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
const RUSAGE_THREAD: i32 = 1;
const PR_SET_NAME: i32 = 15;
const RUSAGE_WORDS: usize = 18; // the last two count switches, of sleeps and of preemptions

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    fn getrusage(who: i32, usage: *mut [i64; RUSAGE_WORDS]) -> i32;
    fn gettid() -> i32;
    fn prctl(option: i32, name: *const u8) -> i32;
}

static MUTEX: Mutex<()> = Mutex::new(());
static RWLOCK: RwLock<()> = RwLock::new(());
static GUARD: Mutex<()> = Mutex::new(());
static CONDVAR: Condvar = Condvar::new();
static ENDED: AtomicBool = AtomicBool::new(false);

fn clock(c: i32) -> i64 {
    let time = UnsafeCell::new([0; 2]);
    unsafe { clock_gettime(c, time.get()) };
    let [s, ns] = time.into_inner();
    s * 1_000_000_000 + ns
}

fn switches() -> [i64; 2] {
    let usage = UnsafeCell::new([0; RUSAGE_WORDS]);
    unsafe { getrusage(RUSAGE_THREAD, usage.get()) };
    let all = usage.into_inner();
    [all[RUSAGE_WORDS - 2], all[RUSAGE_WORDS - 1]]
}

fn name_thread() -> i32 {
    let tid = unsafe { gettid() };
    unsafe { prctl(PR_SET_NAME, format!("u-{}\0", tid).as_ptr()) };
    tid
}

/// Locks again and again until the end; the lines of its log.
fn contend<G>(what: &str, lock: impl Fn() -> G) -> Vec<String> {
    let tid = name_thread();
    let mut seed = tid as u64;
    let mut log = Vec::new();
    while !ENDED.load(Ordering::Relaxed) {
        let [slept, preempted] = switches();
        let mut cpu = clock(CLOCK_THREAD_CPUTIME_ID);
        let call = clock(CLOCK_MONOTONIC);
        let guard = lock();
        let got = clock(CLOCK_MONOTONIC);
        cpu = clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
        let [slept_by_now, preempted_by_now] = switches();
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        thread::sleep(Duration::from_micros(200 + (seed >> 33) % 1500));
        let free = clock(CLOCK_MONOTONIC);
        drop(guard);
        let freed = clock(CLOCK_MONOTONIC);
        let off = (got - call - cpu).max(0);
        log.push(format!(
            "futex(u) {} {} {} {} {} {} {} {} {}",
            what, tid, call, got, free, freed, off, slept_by_now - slept, preempted_by_now - preempted
        ));
        thread::sleep(Duration::from_micros(300));
    }
    log
}

fn wait_for_work() -> Vec<String> {
    let tid = name_thread();
    let mut guard = GUARD.lock().unwrap();
    while !ENDED.load(Ordering::Relaxed) {
        guard = CONDVAR.wait(guard).unwrap();
    }
    vec![format!("- condvar {} 0 0 0 0 0 0 0", tid)]
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let run: [fn() -> Vec<String>; 3] =
        [|| contend("mutex", || MUTEX.lock().unwrap()), || contend("rwlock", || RWLOCK.write().unwrap()), wait_for_work];
    let all: Vec<_> = run.into_iter().flat_map(|f| (0..THREADS).map(move |_| thread::spawn(f))).collect();
    for _ in 0..seconds * 1000 {
        thread::sleep(Duration::from_millis(1));
        CONDVAR.notify_one();
    }
    ENDED.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(20));
    CONDVAR.notify_all();
    for t in all {
        for line in t.join().unwrap() {
            println!("{}", line);
        }
    }
}

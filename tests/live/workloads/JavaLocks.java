// SPDX-License-Identifier: GPL-2.0-only
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/**
 * Threads that wait for monitors and locks, those that have them, and threads that wait for anything else. A thread
 * called "has-X" has what threads called "for-X" wait for. Prints "ready" when all have begun, and runs for as many
 * seconds as the argument says.
 */
public class JavaLocks {
	static class Account {}

	static final CountDownLatch has = new CountDownLatch(5), never = new CountDownLatch(1);

	interface Job {
		void run() throws Exception;
	}

	static void start(String name, Job job) {
		Thread t = new Thread(() -> {
			try {
				job.run();
			} catch (Exception e) {
				e.printStackTrace();
			}
		}, name);
		t.setDaemon(true);
		t.start();
	}

	static void keep() throws Exception {
		has.countDown();
		Thread.sleep(3600000);
	}

	static void monitor(Object of, String name, int waiters) {
		start("has-" + name, () -> {
			synchronized (of) {
				keep();
			}
		});
		for (int i = 0; i < waiters; i++)
			start("for-" + name, () -> {
				has.await();
				synchronized (of) {
				}
			});
	}

	static void lock(Lock of, String name) {
		start("has-" + name, () -> {
			of.lock();
			keep();
		});
		start("for-" + name, () -> {
			has.await();
			of.lock();
		});
	}

	/* No lock is waited for here. */
	static void others() {
		ReentrantLock lock = new ReentrantLock();
		Condition condition = lock.newCondition();
		start("condition", () -> {
			lock.lock();
			condition.await();
		});
		start("wait", () -> {
			Object o = new Object();
			synchronized (o) {
				o.wait();
			}
		});
		start("latch", () -> never.await());
		start("future", () -> new FutureTask<>(() -> 1).get());
		start("completable", () -> new CompletableFuture<>().get());
		start("queue", () -> new LinkedBlockingQueue<>().take());
		start("handover", () -> new SynchronousQueue<>().take());
		start("semaphore", () -> new Semaphore(0).acquire());
		start("park", () -> LockSupport.park());
	}

	public static void main(String[] args) throws Exception {
		monitor(new Object(), "plain", 2);
		monitor(new Account(), "one", 1);
		monitor(new Account(), "two", 1);
		lock(new ReentrantLock(), "lock");
		lock(new ReentrantReadWriteLock().writeLock(), "rwlock");
		others();
		has.await();
		System.out.println("ready");
		Thread.sleep(Long.parseLong(args[0]) * 1000);
	}
}

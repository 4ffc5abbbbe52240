// SPDX-License-Identifier: GPL-2.0-only
/*
 *     java UserClasses CASE
 *
 * As user-classes.c, with what Java has. The virtual machine gives threads their names.
 */
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

class UserClasses {
	interface Step {
		void run() throws Exception;
	}

	static final int THREADS = 3;
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static final Condition condition = lock.newCondition();
	static final ReentrantReadWriteLock rwlock = new ReentrantReadWriteLock();
	static final Semaphore binary = new Semaphore(1), empty = new Semaphore(0);
	static final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
	static final CountDownLatch latch = new CountDownLatch(1);
	static final Map<String, Step[]> cases = new LinkedHashMap<>();

	static void add(String name, Step prepare, Step wait) {
		cases.put(name, new Step[] {prepare, wait});
	}

	static void enter() {
		synchronized (monitor) {
		}
	}

	static void await() throws Exception {
		synchronized (monitor) {
			monitor.wait();
		}
	}

	static {
		add("L-monitor", () -> {}, UserClasses::enter);
		add("L-reentrant", lock::lock, lock::lock);
		add("L-write", () -> rwlock.readLock().lock(), () -> rwlock.writeLock().lock());
		add("L-semaphore", binary::acquire, binary::acquire);
		add("W-wait", () -> {}, UserClasses::await);
		add("W-condition", () -> {}, () -> {
			lock.lock();
			condition.await();
		});
		add("W-queue", () -> {}, queue::take);
		add("W-latch", () -> {}, latch::await);
		add("W-semaphore", () -> {}, empty::acquire);
		add("W-park", () -> {}, LockSupport::park);
		add("W-sleep", () -> {}, () -> Thread.sleep(3600000));
		add("W-join", () -> {}, Thread.currentThread()::join);
	}

	static void start(String name) {
		Step wait = cases.get(name)[1];
		for (int i = 0; i < THREADS; i++) {
			Thread t = new Thread(() -> {
				try {
					wait.run();
				} catch (Exception e) {
					e.printStackTrace();
				}
			}, name);
			t.setDaemon(true);
			t.start();
		}
	}

	static void untilEnd() throws Exception {
		while (System.in.read() >= 0)
			;
	}

	public static void main(String[] args) throws Exception {
		if (args.length == 0) {
			cases.keySet().forEach(System.out::println);
			return;
		}
		cases.get(args[0])[0].run();
		if (args[0].equals("L-monitor")) {
			synchronized (monitor) {
				start(args[0]);
				untilEnd();
			}
			return;
		}
		start(args[0]);
		untilEnd();
	}
}

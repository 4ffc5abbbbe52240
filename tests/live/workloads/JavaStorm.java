// SPDX-License-Identifier: GPL-2.0-only
import java.util.*;
import java.util.concurrent.locks.*;

/**
 * Threads that fight for a monitor and for a lock, and classes that the compiler has to compile: each round allocates,
 * sorts and calls one of some hundred lambdas. Prints "ready" when all have begun, and runs until standard input ends.
 */
public class JavaStorm {
	static final int THREADS = 4, KINDS = 200, ITEMS = 64;
	static final long PAUSE_MS = 5;
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static final List<Comparator<Integer>> orders = new ArrayList<>();
	static volatile long sum;

	static void round(Random random) {
		Integer[] items = new Integer[ITEMS];
		for (int i = 0; i < ITEMS; i++)
			items[i] = random.nextInt();
		Arrays.sort(items, orders.get(random.nextInt(KINDS)));
		sum += items[0];
	}

	static void work(int seed) {
		Random random = new Random(seed);
		try {
			while (true) {
				synchronized (monitor) {
					for (int i = 0; i < 20; i++)
						round(random);
				}
				lock.lock();
				try {
					for (int i = 0; i < 20; i++)
						round(random);
				} finally {
					lock.unlock();
				}
				Thread.sleep(PAUSE_MS);
			}
		} catch (InterruptedException e) {
			return;
		}
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < KINDS; i++) {
			final int mask = i;
			orders.add((a, b) -> Integer.compare(a ^ mask, b ^ mask));
		}
		for (int i = 0; i < THREADS; i++) {
			final int seed = i;
			Thread t = new Thread(() -> work(seed), "storm-" + i);
			t.setDaemon(true);
			t.start();
		}
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
import java.util.concurrent.atomic.AtomicLong;

/**
 * A server that hangs: a thread reloads a cache and has its monitor while it waits for a slow database; those that
 * handle requests wait for that monitor. Prints what it did: a case, a metric, its unit and the value, in words.
 */
public class JvmHang {
	static final int HANDLERS = 8, RELOADS = 5;
	static final long DATABASE_MS = 1300, APART_MS = 400, REQUEST_MS = 2;

	static class SessionCache {
		int version;
	}

	static final SessionCache cache = new SessionCache();
	static final AtomicLong requests = new AtomicLong(), stalls = new AtomicLong(), total = new AtomicLong(),
		longest = new AtomicLong();
	static volatile boolean over;

	static void waitForDatabase() throws InterruptedException {
		Thread.sleep(DATABASE_MS);
	}

	static void reload() throws InterruptedException {
		synchronized (cache) {
			waitForDatabase();
			cache.version++;
		}
	}

	static void handleRequest() throws InterruptedException {
		long from = System.nanoTime();
		synchronized (cache) {
			requests.addAndGet(1);
		}
		long ns = System.nanoTime() - from;
		if (ns > 1000000) {
			stalls.addAndGet(1);
			total.addAndGet(ns);
			longest.accumulateAndGet(ns, Math::max);
		}
		Thread.sleep(REQUEST_MS);
	}

	static void handle() {
		try {
			while (!over)
				handleRequest();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	static void put(String of, String metric, String unit, long value) {
		System.out.println(of + "\t" + metric + "\t" + unit + "\t" + value);
	}

	public static void main(String[] args) throws Exception {
		Thread[] handlers = new Thread[HANDLERS];
		for (int i = 0; i < HANDLERS; i++) {
			handlers[i] = new Thread(JvmHang::handle, "handler-" + i);
			handlers[i].start();
		}
		Thread.currentThread().setName("cache-reload");
		for (int i = 0; i < RELOADS; i++) {
			Thread.sleep(APART_MS);
			reload();
		}
		over = true;
		for (Thread t : handlers)
			t.join();
		put("requests", "number", "1", requests.get());
		put("stalled requests", "number", "1", stalls.get());
		put("stalled requests", "longest", "ns", longest.get());
		put("stalled requests", "total", "ns", total.get());
		put("reloads", "number", "1", RELOADS);
	}
}

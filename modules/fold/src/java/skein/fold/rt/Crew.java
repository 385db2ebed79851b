// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.RT;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The engine's own threads, which help with the runs that want help. There are as many as the machine has processors, or
 * as the most demanding run has asked for; they come when they are wanted and go after a while without work.
 *
 * <p>Invariants:
 * <ul>
 * <li>C1: a run is open from {@link #open} to {@link #close}; nothing else keeps it reachable from here.
 * <li>C2: a thread that finds no open run which wants help is idle; {@link #open} wakes one.
 * <li>C3: a run never waits for a thread of the crew to become free: whoever opened it does the work if nobody comes.
 * </ul>
 */
final class Crew {
  /** How many processors there were when the engine was loaded; to ask costs more than a small fold. */
  static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  /** How long a thread stays without work. */
  static final long KEEP_MILLIS = 20_000;
  static final Crew OWN = new Crew(PROCESSORS, KEEP_MILLIS);
  private static final int MAX_THREADS = 256;

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Run> runs = new ArrayList<>();              // guarded by lock
  private final ArrayDeque<Condition> idle = new ArrayDeque<>(); // guarded by lock
  private int threads;                                           // guarded by lock
  private int maxThreads;                                        // guarded by lock
  private final long keepMillis;
  private final ThreadFactory factory = threads("skein-fold-");

  /**
   * @param threads how many there may be, unless a run wants more
   * @param keepMillis how long a thread stays without work
   */
  Crew(int threads, long keepMillis) {
    maxThreads = threads;
    this.keepMillis = keepMillis;
  }

  /** Lets threads of the crew help with {@code run}, and asks one to come. */
  void open(Run run) {
    lock.lock();
    try {
      maxThreads = Math.max(maxThreads, Math.min(run.maxHelpers(), MAX_THREADS));
      runs.add(run);
      summon();
    } finally {
      lock.unlock();
    }
  }

  /** Asks one more thread to come, for the open runs. Called by a helper that found work. */
  void summonAnother(Run run) {
    if (!run.wantsHelp()) return;
    lock.lock();
    try {
      if (runs.contains(run)) summon();
    } finally {
      lock.unlock();
    }
  }

  void close(Run run) {
    lock.lock();
    try {
      runs.remove(run);
    } finally {
      lock.unlock();
    }
  }

  private void summon() {
    Condition sleeper = idle.pollLast();
    if (sleeper != null) {
      sleeper.signal();
    } else if (threads < maxThreads) {
      start();
    }
  }

  private void start() {
    try {
      factory.newThread(this::serve).start();
      threads++;
    } catch (OutOfMemoryError e) {
      // The system has no thread left for us. Whoever asked does the work.
    }
  }

  /** Makes the engine's threads: daemons called {@code prefix} and a number. */
  static ThreadFactory threads(String prefix) {
    ThreadFactory factory = Thread.ofPlatform().name(prefix, 1).daemon().inheritInheritableThreadLocals(false).factory();
    return work -> {
      Thread thread = factory.newThread(work);
      // Not the class loader of whoever happened to be the first to fold.
      thread.setContextClassLoader(RT.class.getClassLoader());
      return thread;
    };
  }

  private void serve() {
    for (Run run; (run = await()) != null; ) {
      run.help();
      // A step may have interrupted its own thread. That was a matter between it and the run that it was in.
      Thread.interrupted();
    }
  }

  /** An open run that wants help, after waiting for one if need be; null when this thread has been idle for long. */
  private Run await() {
    lock.lock();
    try {
      for (;;) {
        // The newest first: a nested fold holds up the one around it.
        for (int i = runs.size() - 1; i >= 0; i--) {
          if (runs.get(i).wantsHelp()) return runs.get(i);
        }
        if (!rest()) {
          threads--;
          return null;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits to be called; false if nobody has for long. */
  private boolean rest() {
    Condition turn = lock.newCondition();
    idle.addLast(turn);
    boolean woken = true;
    try {
      woken = turn.await(keepMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // It was meant for a run that this thread has left.
    }
    // Not listed any more: somebody has called, even if this thread woke up by itself.
    return !idle.remove(turn) || woken;
  }
}

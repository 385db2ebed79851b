// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;
import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A crew of one thread, on its own: what its thread does between runs. */
public final class CrewCheck {
  private static final long DEADLINE_SECONDS = 20;
  private static final int COLLECTIONS = 200;
  private static final IFn NOTHING = new AFn() { };

  private final Crew crew;
  private Thread helper;        // written before came counts down
  private boolean interrupted;  // likewise

  private CrewCheck(long keepMillis) {
    crew = new Crew(1, keepMillis);
  }

  /** A run whose helper does {@code work}, once. */
  private final class Visit extends Run {
    private final CountDownLatch came = new CountDownLatch(1);
    private final Runnable work;

    Visit(Runnable work) {
      super(new Plan(NOTHING, new IFn[0], NOTHING, NOTHING, false).parallelism(2));
      this.work = work;
    }

    @Override
    void workOnRoot() { }

    @Override
    void workOnOthers() {
      helper = Thread.currentThread();
      interrupted = helper.isInterrupted();
      work.run();
      came.countDown();
    }

    void await() throws InterruptedException {
      if (!came.await(DEADLINE_SECONDS, TimeUnit.SECONDS)) throw new AssertionError("no helper came");
    }
  }

  private Visit visit(Runnable work) throws InterruptedException {
    Visit visit = new Visit(work);
    crew.open(visit);
    visit.await();
    crew.close(visit);
    return visit;
  }

  /** Whether a thread goes when nobody has wanted it for a while, and another one comes after that. */
  public static boolean idleThreadsGo() throws InterruptedException {
    CrewCheck check = new CrewCheck(1);
    check.visit(() -> { });
    Thread first = check.helper;
    first.join(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
    boolean gone = !first.isAlive();
    check.visit(() -> { });
    return gone && check.helper != first;
  }

  /** Whether a thread stays while it is wanted now and then, and serves again. */
  public static boolean idleThreadsStayForAWhile() throws InterruptedException {
    CrewCheck check = new CrewCheck(TimeUnit.HOURS.toMillis(1));
    check.visit(() -> { });
    Thread first = check.helper;
    for (int i = 0; i < 100; i++) check.visit(() -> { });
    return check.helper == first;
  }

  /** Whether a thread comes to a run uninterrupted, although a step of the run before has interrupted it. */
  public static boolean interruptsEndWithTheirRun() throws InterruptedException {
    CrewCheck check = new CrewCheck(1);
    Visit next = check.new Visit(() -> { });
    check.visit(() -> {
      check.crew.open(next);
      Thread.currentThread().interrupt();
    });
    next.await();
    check.crew.close(next);
    return !check.interrupted;
  }

  /** Whether a thread knows nothing of the one that happened to open the first run. */
  public static boolean threadsInheritNothing() throws InterruptedException {
    InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
    local.set("the opener's");
    Object[] seen = new Object[1];
    new CrewCheck(1).visit(() -> seen[0] = local.get());
    return seen[0] == null;
  }

  /** Whether the crew lets go of a run that is over while its thread waits for another. */
  public static boolean runsAreForgotten() throws InterruptedException {
    CrewCheck check = new CrewCheck(TimeUnit.HOURS.toMillis(1));
    WeakReference<Run> run = new WeakReference<>(check.visit(() -> { }));
    for (int i = 0; i < COLLECTIONS && run.get() != null; i++) System.gc();
    return run.get() == null && check.helper.isAlive();
  }
}

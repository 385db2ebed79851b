// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;
import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A crew of one thread, on its own: what its thread does between runs. */
public final class CrewCheck {
    private static final long DEADLINE_SECONDS = 20;
    private static final int COLLECTIONS = 200;
    private static final IFn NOTHING = new AFn() {};

    private final Crew crew;
    private Thread helper; // written before came counts down
    private boolean interrupted; // likewise

    private CrewCheck(long keepMillis) {
        crew = new Crew(1, keepMillis);
    }

    /** A run whose helper does {@code work}, once. */
    private final class Visit extends Run {
        private final CountDownLatch came = new CountDownLatch(1);
        private final Runnable work;

        Visit(Runnable work) {
            super(
                    new Fold(
                            NOTHING,
                            new IFn[0],
                            NOTHING,
                            false,
                            false,
                            NOTHING,
                            new Fold.Options(2, 0, true, crew, null)),
                    new Part(new Pace(1, 1)));
            this.work = work;
        }

        /** Waits for the helper, then ends the run as its caller. */
        @Override
        void workOnRoot(Part root) {
            try {
                if (!came.await(DEADLINE_SECONDS, TimeUnit.SECONDS)) throw new AssertionError("no helper came");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            root.acc = "done";
            complete(root);
        }

        @Override
        void work() {
            if (came.getCount() == 0) return;
            helper = Thread.currentThread();
            interrupted = helper.isInterrupted();
            work.run();
            came.countDown();
        }
    }

    private Visit visit(Runnable work) {
        Visit visit = new Visit(work);
        visit.execute();
        return visit;
    }

    /** Returns whether a thread goes when nobody has wanted it for a while, and another one comes after that. */
    public static boolean idleThreadsGo() throws InterruptedException {
        CrewCheck check = new CrewCheck(1);
        check.visit(() -> {});
        Thread first = check.helper;
        first.join(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
        boolean gone = !first.isAlive();
        check.visit(() -> {});
        return gone && check.helper != first;
    }

    /** Returns whether a thread stays while it is wanted now and then, and serves again. */
    public static boolean idleThreadsStayForAWhile() {
        CrewCheck check = new CrewCheck(TimeUnit.HOURS.toMillis(1));
        check.visit(() -> {});
        Thread first = check.helper;
        for (int i = 0; i < 100; i++) check.visit(() -> {});
        return check.helper == first;
    }

    /** Returns whether a thread comes to a run uninterrupted, although a step of the run before has interrupted it. */
    public static boolean interruptsEndWithTheirRun() {
        CrewCheck check = new CrewCheck(TimeUnit.HOURS.toMillis(1));
        check.visit(() -> Thread.currentThread().interrupt());
        check.visit(() -> {});
        return !check.interrupted;
    }

    /** Returns whether a thread knows nothing of the one that happened to open the first run. */
    public static boolean threadsInheritNothing() {
        InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
        local.set("the opener's");
        Object[] seen = new Object[1];
        new CrewCheck(1).visit(() -> seen[0] = local.get());
        return seen[0] == null;
    }

    /** Returns whether the crew lets go of a run that is over while its thread waits for another. */
    public static boolean runsAreForgotten() {
        CrewCheck check = new CrewCheck(TimeUnit.HOURS.toMillis(1));
        WeakReference<Run> run = new WeakReference<>(check.visit(() -> {}));
        for (int i = 0; i < COLLECTIONS && run.get() != null; i++) System.gc();
        return run.get() == null && check.helper.isAlive();
    }

    /** Returns whether a task that was queued for a run which is over does not hold on to the run. */
    public static boolean lateTasksAreEmpty() {
        CrewCheck check = new CrewCheck(TimeUnit.HOURS.toMillis(1));
        CountDownLatch busy = new CountDownLatch(1);
        check.crew.execute(() -> await(busy));
        WeakReference<Run> run = new WeakReference<>(alone(check));
        for (int i = 0; i < COLLECTIONS && run.get() != null; i++) System.gc();
        boolean queued = !check.crew.getQueue().isEmpty();
        busy.countDown();
        return queued && run.get() == null;
    }

    /** Ends a run for which no helper can come. */
    private static Run alone(CrewCheck check) {
        Visit visit = check.new Visit(() -> {});
        visit.came.countDown();
        visit.execute();
        return visit;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

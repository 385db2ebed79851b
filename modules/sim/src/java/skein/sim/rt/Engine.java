// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.IFn;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import skein.base.Internals;
import skein.rt.Operation;
import skein.rt.World;

/** Runs the tasks of a simulation one at a time; the strategy chooses when more than one could run. */
abstract class Engine extends World implements Executor {
    /*
     * A task is in one of these states:
     *
     *   READY     in `ready`, or in `resting` after a yield   RUNNING  `current`
     *   PARKED    a block in a channel or choice              BLOCKED  a virtual thread in java.util.concurrent
     *   DONE      no longer in `live`
     *
     *   X1  One task runs at a time.
     *   X2  A live task is in exactly one of these states, and in `ready` once at most.
     *   X3  Time moves only when nothing is ready, unless steps take time.
     *   X4  A choice of one is not a choice: nothing is drawn and nothing is recorded.
     *   X5  When a run is over no task of it runs again.
     *
     * With threads, the carrier runs a virtual thread's continuation, and a Server, a virtual thread of the simulation, runs
     * blocks and callbacks. If one of these blocks in the middle of a step, its server stays with the task, which is then like
     * a thread, and another server takes over. Without threads, the carrier runs everything: while the body waits, it runs
     * the others from within that wait.
     */

    /** How many more steps a run has to clean up, once it is over. */
    private static final int LAST_STEPS = 1000;

    /** How many points a task passes at most while others are ready. */
    private static final int FAIR_TURNS = 500;

    /** How long a step can take, in nanoseconds, where steps take time. */
    private static final long[] STEP_NANOS = {
        0, 1_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000L, 10_000_000_000L
    };

    public final Trace trace;
    final Settings settings;
    private final Strategy strategy;
    final Races races; // the strategy, or null if it is another
    private final IFn body;
    final SplittableRandom random;
    final Timeline timeline = new Timeline();
    final Tasks tasks;
    final List<Runnable> settlers = new ArrayList<>(0);
    Threads threads;
    private Stepper stepper; // the carrier's
    Task current;
    Task next; // chosen already
    private int turns; // points that the current task has passed without a break
    private boolean currentCompetes; // the current task is candidate 0
    Task main;
    private final Task clock = new Task(this, null, Task.Kind.TIMER, null, null);
    boolean mainEnded;
    BooleanSupplier mainWaits; // without threads: until what
    int held; // locks under which user code runs
    boolean quiet; // the simulation itself calls user code
    long horizon;
    double probability = Strategy.RARE; // of the choice that is being made
    long steps; // written by one thread at a time; read by the watching thread, which may see an older count
    private int extraSteps; // after the body has ended
    volatile boolean stopped;
    boolean ending;
    boolean drew; // random numbers
    IFn targeted; // injects a fault into what the test has named; null before that
    int points; // passed since then
    volatile boolean over;
    Verdict verdict;
    Object value;

    Engine(Settings settings, Strategy strategy, IFn body) {
        this.settings = settings;
        this.strategy = strategy;
        this.races = strategy instanceof Races r ? r : null;
        this.body = body;
        this.tasks = new Tasks(strategy);
        this.trace = new Trace(settings.keepsEvents());
        this.random = new SplittableRandom(settings.seed());
        if (races != null && (settings.slowSteps() || !settings.points() || !settings.atoms())) races.blinds();
        this.horizon = settings.manualTime() ? 0 : Long.MAX_VALUE;
    }

    // The run

    /** Runs the test to its end on this thread, which must be a platform thread. */
    public void run() {
        threads = new Threads(this);
        stepper = new Stepper(this);
        stepper.begin();
        try {
            main = add(new Task(this, null, Task.Kind.MAIN, this::runBody, null));
            current = main;
            if (settings.threads()) threads.start(main, this::runBody);
            else tasks.enqueue(main);
            loop();
            judge();
            unwind();
        } finally {
            over = true;
            threads.end();
            stepper.end();
        }
    }

    private void runBody() {
        try {
            value = body.invoke();
        } catch (Throwable t) { // every exception of the test is its result
            if (!ending) fail(Verdict.Kind.EXCEPTION, t);
        }
        mainEnded = true;
        if (!settings.threads()) Thread.interrupted(); // nested may have interrupted this thread
        end(main);
    }

    private void loop() {
        for (Task t; (t = take(true)) != null; ) perform(t);
    }

    private void perform(Task t) {
        if (t.continuation != null) threads.run(t);
        else if (settings.threads()) threads.serve(t);
        else serve(stepper, t);
    }

    void serve(Stepper by, Task t) {
        current = t;
        if (t.isDeferred() && trace.keeps() && t.isRefused()) noteOperation(Trace.Kind.FAILED, t, REFUSED);
        by.step(t.work);
        if (t.kind == Task.Kind.CALLBACK || t.kind == Task.Kind.TIMER) end(t);
    }

    /** Checks the claims that must hold after each step. */
    abstract void afterStep();

    /** Ends the run, and finds out whether it has failed. A second call has no effect. */
    abstract void judge();

    // Tasks that are ready

    Task add(Task t) {
        tasks.add(t);
        trace.mix(t.id);
        return t;
    }

    /** A thread has been started, with {@code work} if that is known. */
    Task newThread(Runnable work) {
        Task t = add(new Task(this, null, Task.Kind.THREAD, work, current));
        wakes(t);
        note(Trace.Kind.SPAWN, current, t, null);
        return t;
    }

    /** The current step makes {@code t} ready. */
    void wakes(Task t) {
        if (races != null) races.wakes(t);
    }

    void touches(Object x) {
        if (races != null) races.touches(x);
    }

    private void begins(Task t) {
        if (races != null && !ending) races.begins(t);
    }

    /** Makes {@code t} the current task. */
    void runs(Task t) {
        current = t;
    }

    /** Makes {@code t} the next task. */
    void goesNext(Task t) {
        next = t;
    }

    void end(Task t) {
        if (tasks.remove(t)) note(Trace.Kind.END, t, null, null);
    }

    /** Returns candidate {@code i} of the choice that is being made. */
    Task candidate(int i) {
        return !currentCompetes ? tasks.ready(i) : i == 0 ? current : tasks.ready(i - 1);
    }

    int choose(Strategy.Kind kind, int n) {
        if (n < 2 || ending || stopped) return 0;
        int chosen = strategy.choose(kind, n, this);
        trace.chose(kind, n, chosen);
        if (chosen != 0 && kind != Strategy.Kind.TASK) note(Trace.Kind.DREW, current, null, chosen + 1 + " of " + n);
        return chosen;
    }

    /** Returns the next task, or null if none can run. Only the carrier can wait until one becomes ready. */
    Task take(boolean onCarrier) {
        turns = 0;
        Task chosen = next;
        if (chosen != null) {
            next = null;
            return chosen;
        }
        for (; ; ) {
            if (ending ? ++extraSteps > LAST_STEPS : stopped) return null;
            if (onCarrier) threads.admitOutsiders();
            else if (threads.needsCarrier()) return null;
            admitDue();
            if (mainWaits != null && mainWaits.getAsBoolean()) {
                mainWaits = null;
                wakes(main);
                tasks.enqueue(main);
            }
            if (tasks.readyCount() == 0) tasks.release(null);
            if (tasks.readyCount() > 0) return pick();
            if (!onCarrier || !goesOn()) return null;
        }
    }

    private Task pick() {
        if (!beginStep()) return null;
        Task fault = faultDue();
        if (fault != null) return fault;
        currentCompetes = false;
        int chosen = choose(Strategy.Kind.TASK, tasks.readyCount());
        Task first = tasks.ready(0);
        Task t = tasks.dequeue(chosen);
        if (chosen > 0) note(Trace.Kind.SWITCH, t, first, null);
        trace.mix(t.id);
        begins(t);
        tasks.release(t);
        return t;
    }

    /** Counts a step, and checks the claims that must always hold. Returns false if the limit of steps is exceeded. */
    private boolean beginStep() {
        long step = steps + 1;
        steps = step;
        if (step > settings.maxSteps() && !stopped) fail(Verdict.Kind.LIVELOCK, null);
        if (!stopped) afterStep();
        if (settings.slowSteps()) {
            int length = choose(Strategy.Kind.CHANCE, STEP_NANOS.length);
            if (length > 0) passTime(timeline.now + STEP_NANOS[length]);
        }
        return !stopped || ending;
    }

    void passTime(long now) {
        timeline.now = now;
        trace.mix(now);
        note(Trace.Kind.TIME, null, null, null);
    }

    /** Counts the points since the test has named a target. Returns a task that injects the fault there, or null. */
    private Task faultDue() {
        if (targeted == null || stopped || ++points != settings.faultAt()) return null;
        IFn inject = targeted;
        note(Trace.Kind.FAULT, current, null, "at point " + points);
        return add(new Task(
                this,
                null,
                Task.Kind.CALLBACK,
                () -> {
                    try {
                        inject.invoke();
                    } catch (Throwable t) { // the fault is the test's
                        uncaught(t);
                    }
                },
                current));
    }

    private void admitDue() {
        for (Timeline.Due due; (due = timeline.poll()) != null; ) {
            World.Timer timeout = due.timeout();
            Runnable work = timeout == null ? due.work() : timeout.channel()::close;
            tasks.enqueue(add(new Task(this, null, Task.Kind.TIMER, work, clock)));
        }
    }

    /** Called when no task is ready. Returns whether one may be ready now. */
    private boolean goesOn() {
        current = clock;
        if (races != null) races.rests();
        if (!settlers.isEmpty()) {
            settlers.remove(0).run();
            return true;
        }
        if (mainEnded && !ending && !(verdict == null && tasks.anyPutWaits() && ++extraSteps <= LAST_STEPS))
            return false;
        if (timeline.jump(horizon)) {
            passTime(timeline.now);
            return true;
        }
        if (settings.waitsOutside() || threads.needsCarrier())
            return threads.awaitOutsiders(ending ? 1_000_000 : settings.outsideNanos());
        return !ending && threads.awaitOutsiders(settings.lateNanos());
    }

    // The end of a run

    /** Records why the run has failed. The first reason counts. */
    public void fail(Verdict.Kind kind, Object cause) {
        if (verdict == null) {
            verdict = new Verdict(kind, cause);
            if (kind != Verdict.Kind.ASSERTION) stopped = true;
        }
    }

    /** Cancels the tasks that are left, so that they clean up. */
    private void unwind() {
        ending = true;
        stopped = true;
        extraSteps = 0;
        horizon = Long.MAX_VALUE;
        current = clock;
        for (Task t : new ArrayList<>(tasks.live())) {
            boolean before = t.told;
            t.told = true;
            if (t.thread != null) t.thread.interrupt();
            else if (t.frame() != null && !before && (t.isDeferred() || !t.ready)) World.abort(t, cancellation());
            else t.told = before;
        }
        loop();
    }

    /** Cancels a task at the end of the run, once, and again if it takes long to end. The clock is not cancelled: it has no code to end. */
    private void ends(Task t) {
        if (t == clock || t.told && ++extraSteps < LAST_STEPS) return;
        t.told = true;
        throw cancellation();
    }

    private static CancellationException cancellation() {
        return new CancellationException("The simulation has ended.");
    }

    // Points

    /** Returns whether another task goes first. */
    private boolean passes() {
        if (next != null) return false;
        if (!beginStep()) return true;
        next = faultDue();
        if (next != null) return true;
        admitDue();
        int others = tasks.readyCount();
        if (others == 0) return false;
        if (++turns > FAIR_TURNS) { // it may wait in a loop for another task
            next = tasks.dequeue(0);
            strategy.yielded(current);
            begins(next);
            return true;
        }
        strategy.pending(current);
        currentCompetes = true;
        int chosen = choose(Strategy.Kind.TASK, others + 1);
        if (chosen == 0) {
            begins(current);
            return false;
        }
        next = tasks.dequeue(chosen - 1);
        trace.mix(next.id);
        begins(next);
        note(Trace.Kind.SWITCH, next, current, null);
        return true;
    }

    @Override
    protected boolean point(Member member, boolean mayDefer) {
        Task t = (Task) member;
        t.threadOperation = Operation.NONE;
        trace.mix(t.id * 8L + t.operation().ordinal());
        if (trace.keeps())
            noteOperation(
                    Trace.Kind.begun(t.operation()), t, t.operation() == Operation.PUT ? print(t.operand()) : null);
        if (ending) ends(t);
        if (!settings.points() || !mayDefer || held > 0 || quiet || ending || t != current || !passes()) {
            touches(t.port());
            if (trace.keeps() && t.isRefused()) noteOperation(Trace.Kind.FAILED, t, REFUSED);
            return false;
        }
        tasks.enqueue(t);
        return true;
    }

    private static final String REFUSED = "its put fails, as the channel is closed";

    /**
     * A thread, or a block in the middle of a step, is about to do something that others may see.
     *
     * @param operation what it may block in, or NONE
     * @param kind for the story
     */
    public void point(Operation operation, Trace.Kind kind, Object on, Object with) {
        if (held > 0) touches(on);
        if (held > 0 || quiet || over) return;
        Task t = current;
        trace.mix(t.id * 8L + operation.ordinal() + 4);
        if (trace.keeps()) note(kind, t, on, with == null ? null : print(with));
        t.threadOperation = operation;
        t.threadPort = on;
        if (ending && !(kind == Trace.Kind.AT && Threads.inSkeinsCode()))
            ends(t); // a scope must learn that a child has ended
        if (ending) return;
        if (settings.points() && !Internals.holdsRefs())
            mayGiveWay(t); // others would wait for the transaction in real time
        touches(on);
    }

    private void mayGiveWay(Task t) {
        if (settings.threads()) {
            if (Thread.currentThread().isVirtual() && passes()) threads.giveWay();
        } else if (t == main && mainWaits == null && passes()) {
            boolean[] back = {false};
            tasks.enqueue(main);
            nested(back);
        }
    }

    /** Without threads: runs others on the stack of the body, until it is the body's turn. */
    void nested(boolean[] back) {
        stepper.nested(() -> {
            for (Task t; (t = take(true)) != null; ) {
                if (t == main) {
                    back[0] = true;
                    break;
                }
                perform(t);
            }
        });
        current = main;
        if (back[0]) return;
        judge();
        ending = true;
        main.told = true;
        Thread.currentThread().interrupt();
    }

    @Override
    protected void await(BooleanSupplier done) {
        if (current != main) needsThreads();
        mainWaits = done;
        nested(new boolean[1]);
        mainWaits = null;
    }

    void needsThreads() {
        UnsupportedOperationException e = new UnsupportedOperationException(
                "Without --add-opens java.base/java.lang=ALL-UNNAMED only the body of a simulated test can block.");
        fail(Verdict.Kind.NEEDS_OPENS, e);
        throw e;
    }

    /** Returns whether the run is over. Any thread may ask. */
    public boolean isOver() {
        return over;
    }

    /** Returns whether threads outside of the simulation may wake its members. */
    boolean admitsOutside() {
        return settings.waitsOutside() || ending;
    }

    // Reports

    /** Records something at the place in the code that does it. */
    void note(Trace.Kind kind, Task task, Object on, String with) {
        if (!trace.keeps() || ending || stopped || quiet) return;
        boolean inCode = World.current() == this && kind != Trace.Kind.END && kind != Trace.Kind.SWITCH;
        record(kind, task, on, with, inCode ? new Throwable().getStackTrace() : null);
    }

    /** Records an operation of a block, whose code knows the place by the block's state. */
    void noteOperation(Trace.Kind kind, Task t, String with) {
        if (trace.keeps() && !ending && !stopped) record(kind, t, t.port(), with, t.frame().state);
    }

    private void record(Trace.Kind kind, Task task, Object on, String with, Object site) {
        if (on instanceof Task spawned && kind == Trace.Kind.SPAWN) spawned.site = site;
        trace.add(new Trace.Event(timeline.now, task, kind, on, with, site, trace.hash(), trace.choices()));
    }

    String print(Object x) {
        if (settings.printer() == null) return null;
        boolean before = quiet;
        quiet = true;
        try {
            return (String) settings.printer().invoke(x);
        } finally {
            quiet = before;
        }
    }
}

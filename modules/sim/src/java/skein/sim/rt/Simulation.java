// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.IFn;
import clojure.lang.RT;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import skein.base.Internals;
import skein.rt.Block;
import skein.rt.Operation;
import skein.rt.World;
import skein.rt.block.Frame;
import skein.rt.schedule.Scheduler;

/**
 * One run of a test: its body, and all blocks, callbacks, timers and threads that it starts, one at a time on one
 * platform thread.
 */
public final class Simulation extends Engine {
    /** A claim of the test that something holds always, or sometimes. */
    private record Claim(IFn predicate, String message, boolean always) {}

    /** An exception that some code may still ask for; early: nothing else had failed before. */
    private record Kept(Throwable thrown, BooleanSupplier observed, boolean early) {}

    private final List<Claim> claims = new ArrayList<>(0);
    private final Map<String, Boolean> sightings = new LinkedHashMap<>(0);
    private final List<Kept> kept = new ArrayList<>(0);
    private final List<Throwable> uncaught = new ArrayList<>(0); // before anything else failed
    private final List<Throwable> rethrown = new ArrayList<>(0);
    private boolean judged;
    private long judgedAt;
    private Object description; // of what waits, when the run ended

    public Simulation(Settings settings, Strategy strategy, IFn body) {
        super(settings, strategy, body);
    }

    // Calls by the runtime

    @Override
    public void ready(Runnable work) {
        if (over) return;
        if (!(work instanceof Frame f)) {
            Task t = add(new Task(this, null, Task.Kind.CALLBACK, work, current));
            wakes(t);
            tasks.enqueue(t);
        } else if (World.member(f) instanceof Task t && t.world() == this) {
            if (trace.keeps() && t.operation() != Operation.NONE) {
                Object value = World.incoming(f);
                boolean cancelled = value instanceof CancellationException;
                noteOperation(cancelled ? Trace.Kind.CANCELLED : Trace.Kind.done(t.operation()), t, print(value));
            }
            wakes(t);
            tasks.enqueue(t);
        } else {
            if (!settings.waitsOutside()) fail(Verdict.Kind.OUTSIDE, new Throwable("a block from outside was woken here"));
            Scheduler.submitToWorkers(work);
        }
    }

    @Override
    public long nanoTime() {
        return timeline.now;
    }

    @Override
    public void at(World.Timer timer) {
        timeline.add(timer.deadlineNanos(), timer, null);
    }

    @Override
    protected int choose(int bound) {
        return choose(Strategy.Kind.ARM, bound);
    }

    @Override
    protected double random() {
        drew = true;
        touches(random);
        return random.nextDouble();
    }

    @Override
    public Member spawned(Block block) {
        if (over) return null;
        Task t = add(new Task(this, (Frame) block, Task.Kind.GO, block, current));
        wakes(t);
        note(Trace.Kind.SPAWN, current, t, null);
        return t;
    }

    @Override
    protected void withdrawn(Member member) {
        Task t = (Task) member;
        tasks.withdraw(t);
        if (next == t) next = null;
    }

    @Override
    public void ended(Member member, Throwable thrown) {
        touches(member.block().port());
        end((Task) member);
    }

    @Override
    protected void uncaught(Throwable thrown) {
        if (verdict == null && !ending) uncaught.add(thrown);
    }

    @Override
    protected void rethrown(Throwable thrown) {
        rethrown.add(thrown);
    }

    /** Returns the first exception that was neither caught nor taken, or null. Later failures may be its consequences. */
    private Throwable firstUncaught() {
        for (Throwable t : uncaught) if (rethrown.stream().noneMatch(r -> r == t)) return t;
        for (Kept k : kept) if (k.early && !k.observed.getAsBoolean()) return k.thrown;
        return null;
    }

    @Override
    protected void start(Runnable task) {
        checkThreads();
        threads.starting = task;
        Carriers.virtual(
                        this,
                        () -> {
                            try {
                                task.run();
                            } catch (Throwable t) { // as the thread's handler would
                                uncaught(t);
                            }
                        },
                        "sim-thread")
                .start();
    }

    @Override
    protected void checkThreads() {
        if (!settings.threads()) needsThreads();
    }

    @Override
    protected void hold(int n) {
        held = Math.max(0, held + n);
    }

    @Override
    protected void strayed(Block block) {
        if (!over) threads.wokenOutside(null, (Frame) block);
    }

    @Override
    public void execute(Runnable continuation) {
        threads.execute(continuation);
    }

    // Calls by tests

    /** Returns the simulation that the current thread is in, or null. */
    public static Simulation here() {
        return World.current() instanceof Simulation s ? s : null;
    }

    /** A member that waits until it is woken. */
    private final class Wake {
        private final Thread thread = Thread.currentThread();
        private boolean done;

        void await() {
            if (!settings.threads()) {
                Simulation.this.await(() -> done);
                return;
            }
            while (!done && !Thread.currentThread().isInterrupted()) LockSupport.park(this);
        }

        void wake() {
            done = true;
            if (settings.threads()) LockSupport.unpark(thread);
        }
    }

    /** The current step does something with {@code x} that other tasks may see. */
    @Override
    public void touches(Object x) {
        super.touches(x);
    }

    /** Returns whether reads and changes of atoms are points. */
    public boolean atoms() {
        return settings.atoms();
    }

    /** Returns whether events are kept. */
    public boolean keepsEvents() {
        return trace.keeps();
    }

    /** Without threads: runs others until {@code done}, a function, returns true, so that the body need not block. */
    public void awaitWithoutThreads(IFn done) {
        if (!settings.threads() && !RT.booleanCast(done.invoke())) await(() -> RT.booleanCast(done.invoke()));
    }

    /** The operation in which a thread may have blocked is done. */
    public void passed() {
        current.threadOperation = Operation.NONE;
    }

    /** Waits until no other task can run at this time. */
    public void settle() {
        Wake wake = new Wake();
        settlers.add(wake::wake);
        wake.await();
    }

    /** Waits until {@code nanos} have passed and no other task can run. */
    public void advance(long nanos) {
        Wake wake = new Wake();
        long at = timeline.now + nanos;
        if (settings.manualTime()) horizon = Math.max(horizon, at);
        timeline.add(at, null, wake::wake);
        wake.await();
        settle();
    }

    /** Yields: lets other tasks go first. In a transaction that has changed a ref, does nothing, as a point there. */
    public void rest() {
        if (Internals.holdsRefs()) return;
        if (settings.threads()) Thread.yield();
        else if (current == main && mainWaits == null && !ending) {
            tasks.rest(main);
            nested(new boolean[1]);
        }
    }

    /** Chooses a number from 0 to {@code n - 1}. */
    public int pick(int n) {
        return choose(Strategy.Kind.PICK, n);
    }

    /** Returns whether something happens that has the probability {@code p}. */
    public boolean chance(double p) {
        probability = p;
        boolean happens = choose(Strategy.Kind.CHANCE, 2) == 1;
        probability = Strategy.RARE;
        return happens;
    }

    /** Records something that happened to the current task, if events are kept. */
    public void note(Trace.Kind kind, Object on, String with) {
        note(kind, current, on, with);
    }

    /** Claims that {@code predicate} holds after each step, or after some step of some run. */
    public void claim(IFn predicate, String message, boolean always) {
        claims.add(new Claim(predicate, message, always));
        if (races != null) races.blinds();
    }

    /** Something that may happen, as {@code what} says, has happened. */
    public void sighted(String what) {
        sightings.put(what, true);
    }

    /** Returns each claim that something holds sometimes, and whether it has held in this run. */
    public Map<String, Boolean> sightings() {
        return sightings;
    }

    /** Counts points from now on; {@code inject} injects the fault. */
    public void target(IFn inject) {
        targeted = inject;
    }

    /** Returns how many points there were since a target was named. */
    public int points() {
        return points;
    }

    /** Moves the clock to the next timer. */
    public void expire() {
        if (timeline.jump(Long.MAX_VALUE)) passTime(timeline.now);
    }

    /** Returns what the body returned. */
    public Object value() {
        return value;
    }

    /** Returns why the run failed, or null. */
    public Verdict verdict() {
        return verdict;
    }

    /** Returns what {@link Settings#describe} returned, or null. */
    public Object description() {
        return description;
    }

    /** Returns what the run's steps touched, or null if the strategy does not reduce the search. */
    public Races races() {
        return races;
    }

    /** Returns the task that runs. */
    public Task running() {
        return current;
    }

    /** Returns the thread on which {@code task} runs. Any thread may ask. */
    public Thread threadOf(Task task) {
        return threads.of(task);
    }

    /** Returns the stack of a task's thread, which waits. */
    public StackTraceElement[] stack(Task task) {
        return threads.stack(task);
    }

    /** Returns the tasks that have not ended, in no particular order. */
    public List<Task> live() {
        return tasks.live();
    }

    /** Returns how many steps there have been. */
    public long steps() {
        return steps;
    }

    /** Returns the virtual time, in nanoseconds since the run began. */
    public long now() {
        return judged ? judgedAt : timeline.now;
    }

    /** Returns whether a random number has been drawn. */
    public boolean drew() {
        return drew;
    }

    /** Returns whether the run has failed or ended, and members are being cancelled. */
    public boolean isEnding() {
        return ending || stopped;
    }

    // How it ends

    @Override
    void afterStep() {
        if (claims.isEmpty()) return;
        quiet = true;
        try {
            for (Claim claim : claims) {
                boolean holds = RT.booleanCast(claim.predicate.invoke());
                if (!claim.always) sightings.merge(claim.message, holds, Boolean::logicalOr);
                else if (!holds) fail(Verdict.Kind.NEVER, claim.message);
            }
        } catch (Throwable t) { // the user's predicate
            fail(Verdict.Kind.EXCEPTION, t);
        } finally {
            quiet = false;
        }
    }

    @Override
    void judge() {
        if (judged) return;
        judged = true;
        judgedAt = timeline.now;
        Throwable first = firstUncaught();
        if (first != null) verdict = new Verdict(Verdict.Kind.UNCAUGHT, first);
        if (!mainEnded && verdict == null) {
            Outsider waiting = threads.waitsOutside();
            if (!settings.waitsOutside()) threads.admitOutsiders(); // one that was woken meanwhile fails the run
            fail(waiting == null ? Verdict.Kind.DEADLOCK : Verdict.Kind.OUTSIDE, waiting);
        }
        if (verdict == null) {
            for (Kept k : kept) if (!k.observed.getAsBoolean()) fail(Verdict.Kind.UNCAUGHT, k.thrown);
        }
        if (verdict == null && settings.leaks() != Settings.Leaks.NONE) {
            for (Task t : tasks.live()) {
                if (t.losesValue() || settings.leaks() == Settings.Leaks.ALL) {
                    fail(Verdict.Kind.LEAK, t);
                    break;
                }
            }
        }
        if (verdict != null && settings.describe() != null) {
            quiet = true;
            try {
                description = settings.describe().invoke(this);
            } finally {
                quiet = false;
            }
        }
    }

    @Override
    public void kept(Throwable thrown, BooleanSupplier observed) {
        kept.add(new Kept(thrown, observed, verdict == null && !ending));
    }
}

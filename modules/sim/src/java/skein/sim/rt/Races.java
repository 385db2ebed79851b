// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.IPersistentVector;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Records what the steps of a run touch, and finds those whose order matters: another task could have gone first, with another
 * result.
 *
 * <p>Flanagan, Godefroid: Dynamic partial-order reduction for model checking software, POPL 2005; sleep sets: Godefroid,
 * Partial-order methods for the verification of concurrent systems, 1996. Differs: a step is all that a task does between
 * two choices, and it touches a set of things. It is put to sleep only if it touched no more than the operation with which
 * it began, since things have an identity in one run only.
 */
public final class Races extends Strategy.Listed {
    /** Receives the task that should also be tried at a choice, by its number among the candidates. */
    interface Found {
        void tried(int choice, int candidate);
    }

    /** A step of {@code task}. Those with a number below {@code barrier} can't come after it. */
    private record Step(Task task, int choice, int barrier, Set<Object> touched, List<Task> woken) {}

    /** Stands for everything. A step touches it if it is not known what the step touches. */
    private static final Object EVERYTHING = new Object();

    private final List<Step> steps = new ArrayList<>();
    private final List<Task[]> candidates = new ArrayList<>(); // at each choice; null if its candidates were not tasks
    private final List<BitSet> asleep = new ArrayList<>(); // at each choice: the candidates that slept
    private final BitSet plain = new BitSet(); // the choices whose step touched only what was known before it ran
    private final List<BitSet> sleepers; // at each listed choice: the candidates to put to sleep
    private final Map<Task, Set<Object>> sleeping = new IdentityHashMap<>(); // with what their next step touches
    private int choice = -1; // at which the next step was chosen; -1: there was none
    private int barrier;
    private Set<Object> expected; // what the current step touches, as far as that was known before it ran
    private int blindFrom = Integer.MAX_VALUE; // the choice from which on no two steps can be exchanged

    Races(int[] numbers, int[] values, List<BitSet> sleepers) {
        super(numbers, values);
        this.sleepers = sleepers;
    }

    @Override
    int choose(Kind kind, int n, Simulation world) {
        int listed = super.choose(kind, n, world);
        if (kind != Kind.TASK) {
            candidates.add(null);
            asleep.add(new BitSet());
            return listed;
        }
        choice = candidates.size();
        Task[] tasks = new Task[n];
        BitSet slept = new BitSet();
        for (int i = 0; i < n; i++) {
            tasks[i] = world.candidate(i);
            if (sleeping.containsKey(tasks[i])) slept.set(i);
        }
        candidates.add(tasks);
        asleep.add(slept);
        if (choice >= sleepers.size()) return slept.nextClearBit(0) % n;
        sleepers.get(choice).stream().forEach(i -> sleeping.put(tasks[i], visible(tasks[i])));
        return listed;
    }

    private static Set<Object> identities() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    /** Returns the objects that the next step of {@code task} touches, as far as they are known in advance. */
    private static Set<Object> visible(Task task) {
        Set<Object> things = identities();
        collect(task.doingOn(), things);
        if (task.frame() != null) things.add(task.frame().port());
        return things;
    }

    /** Adds {@code x}, and if that is the ports of an alts each of them, but no value that is to be put. */
    private static void collect(Object x, Set<Object> things) {
        if (x == null) return;
        things.add(x);
        if (x instanceof IPersistentVector ports) for (int i = 0; i < ports.count(); i++) add(ports.nth(i), things);
        else if (x instanceof Object[] ports) for (Object port : ports) add(port, things);
    }

    private static void add(Object port, Set<Object> things) {
        Object x = port instanceof IPersistentVector put && put.count() > 0 ? put.nth(0) : port;
        if (x != null) things.add(x);
    }

    @Override
    void yielded(Task task) {
        touches(EVERYTHING); // which task runs next depends on all others
    }

    /** A step of {@code task} begins. */
    void begins(Task task) {
        if (isCancellable(task)) blinds();
        steps.add(new Step(task, choice, barrier, identities(), new ArrayList<>(2)));
        expected = visible(task);
        if (choice >= 0) plain.set(choice);
        choice = -1;
        sleeping.remove(task);
        if (isBlind(candidates.size()) || task.kind == Task.Kind.CALLBACK || task.kind == Task.Kind.TIMER)
            touches(EVERYTHING);
        else if (task.isDeferred()) touches(task.port());
    }

    /** The current step does something with {@code x}, a port or atom, or the ports of an alts. */
    void touches(Object x) {
        if (steps.isEmpty()) return;
        Step step = steps.getLast();
        Set<Object> things = identities();
        collect(x, things);
        step.touched.addAll(things);
        if (step.choice >= 0 && !expected.containsAll(things)) plain.clear(step.choice);
        sleeping.values().removeIf(next -> x == EVERYTHING || !Collections.disjoint(next, things));
    }

    /** The current step makes {@code task} ready. */
    void wakes(Task task) {
        if (isCancellable(task)) blinds();
        if (!steps.isEmpty()) steps.getLast().woken.add(task);
    }

    /** A thread, or a block in a scope: others can end its waits, which touches what it waits for. */
    private static boolean isCancellable(Task task) {
        return task.kind == Task.Kind.THREAD || task.frame() != null && task.isCancellable();
    }

    /** Returns the candidates that slept at a choice: what they would do has been tried. */
    BitSet asleep(int choice) {
        return asleep.get(choice);
    }

    /** Returns whether all candidates of a choice must be tried, because it is not known what they touch. */
    boolean isBlind(int choice) {
        return choice >= blindFrom;
    }

    /** Returns whether the chosen step touched nothing but what could be seen before it ran. */
    boolean isPlain(int choice) {
        return plain.get(choice);
    }

    /** No task can run, so all later steps come after all earlier ones. */
    void rests() {
        barrier = steps.size();
    }

    /** From now on each step touches everything: the test looks at the state after each, or it is not known what they touch. */
    void blinds() {
        blindFrom = Math.min(blindFrom, candidates.size());
        touches(EVERYTHING);
    }

    /** Finds the pairs of steps that touch the same thing, and whose order nothing else has fixed. */
    void find(Found found) {
        Map<Object, BitSet> users = new IdentityHashMap<>(); // the steps that touched a thing
        Map<Task, BitSet> causes = new IdentityHashMap<>(); // the steps that come before all that a task does next
        BitSet[] before = new BitSet[steps.size()]; // the steps that come before a step, and itself
        for (int j = 0; j < before.length; j++) {
            Step step = steps.get(j);
            BitSet known = causes.computeIfAbsent(step.task, t -> new BitSet());
            known.set(0, step.barrier);
            BitSet past = (BitSet) known.clone();
            BitSet rivals = rivals(step, users, j);
            for (int i = j; (i = rivals.previousSetBit(i - 1)) >= 0; ) {
                if (past.get(i)) continue;
                tryBefore(i, j, known, found);
                past.or(before[i]);
            }
            past.set(j);
            before[j] = past;
            known.or(past);
            for (Task woken : step.woken)
                causes.computeIfAbsent(woken, t -> new BitSet()).or(past);
            for (Object x : step.touched)
                users.computeIfAbsent(x, o -> new BitSet()).set(j);
        }
    }

    /** Returns the steps before {@code step}, number {@code j}, that touch something that it touches. */
    private static BitSet rivals(Step step, Map<Object, BitSet> users, int j) {
        BitSet rivals = new BitSet();
        if (step.touched.contains(EVERYTHING)) rivals.set(0, j);
        for (Object x : step.touched) if (users.get(x) instanceof BitSet some) rivals.or(some);
        if (users.get(EVERYTHING) instanceof BitSet some) rivals.or(some);
        return rivals;
    }

    /**
     * Tells {@code found} to try step {@code j} before step {@code i}: the task of {@code j}, or one
     * that {@code known} names as a cause, goes first.
     */
    private void tryBefore(int i, int j, BitSet known, Found found) {
        int choice = steps.get(i).choice;
        if (choice < 0) return; // no other task could run
        Task[] tasks = candidates.get(choice);
        for (int k = j; k > i; k = known.previousSetBit(k - 1)) {
            for (int c = 0; c < tasks.length; c++) {
                if (tasks[c] != steps.get(k).task) continue;
                found.tried(choice, c);
                return;
            }
        }
        for (int c = 0; c < tasks.length; c++) found.tried(choice, c);
    }
}

// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Compares {@link Tasks} with three lists, and looks at the tasks of a simulation while it runs. */
public final class TasksCheck {
    /** Always chooses the first task. */
    private static final class First extends Strategy {
        @Override
        int choose(Kind kind, int n, Simulation simulation) {
            return 0;
        }
    }

    private final Random random;
    private final Tasks tasks = new Tasks(new First());
    private final List<Task> live = new ArrayList<>();
    private final List<Task> ready = new ArrayList<>();
    private final List<Task> resting = new ArrayList<>();

    private TasksCheck(long seed) {
        random = new Random(seed);
    }

    /** Does some hundred random operations. Returns what is wrong, or null. */
    public static String fault(long seed) {
        TasksCheck check = new TasksCheck(seed);
        for (int i = 0; i < 300; i++) {
            check.operate();
            String fault = check.compare();
            if (fault != null) return "Seed " + seed + ", operation " + i + ": " + fault;
        }
        return null;
    }

    private void operate() {
        switch (random.nextInt(6)) {
            case 0 -> add();
            case 1 -> enqueue();
            case 2 -> dequeue();
            case 3 -> withdraw();
            case 4 -> rest();
            default -> remove();
        }
    }

    private void add() {
        Task t = new Task(null, null, Task.Kind.CALLBACK, () -> {}, null);
        tasks.add(t);
        live.add(t);
    }

    private Task any() {
        return live.get(random.nextInt(live.size()));
    }

    /** One that is ready already stays where it is. */
    private void enqueue() {
        if (live.isEmpty()) return;
        Task t = any();
        tasks.enqueue(t);
        if (!ready.contains(t)) ready.add(t);
    }

    private void dequeue() {
        if (ready.isEmpty()) return;
        int i = random.nextInt(ready.size());
        Task expected = ready.remove(i);
        if (tasks.dequeue(i) != expected) throw new AssertionError("another task was ready at " + i);
    }

    private void withdraw() {
        if (live.isEmpty()) return;
        Task t = any();
        tasks.withdraw(t);
        ready.remove(t);
    }

    /** A running task rests; then others have had their turn. */
    private void rest() {
        if (live.isEmpty()) return;
        Task t = any();
        if (ready.contains(t)) return;
        tasks.rest(t);
        resting.add(t);
        if (random.nextBoolean()) return;
        Task running = random.nextBoolean() ? t : null;
        tasks.release(running);
        for (Task r : resting) if (r != running && !ready.contains(r)) ready.add(r);
        resting.clear();
    }

    private void remove() {
        if (live.isEmpty()) return;
        Task t = any();
        if (ready.contains(t) || resting.contains(t)) return;
        live.remove(t);
        if (!tasks.remove(t) || tasks.remove(t)) throw new AssertionError("a task is removed once");
    }

    private String compare() {
        if (tasks.readyCount() != ready.size()) return tasks.readyCount() + " ready";
        for (int i = 0; i < ready.size(); i++) if (tasks.ready(i) != ready.get(i)) return "another is ready at " + i;
        for (Task t : live) if (t.isReady() != ready.contains(t)) return "the flag of a task is wrong";
        return same(tasks.live(), live) ? null : "other tasks are live";
    }

    private static boolean same(List<Task> some, List<Task> others) {
        Set<Task> a = Collections.newSetFromMap(new IdentityHashMap<>());
        a.addAll(some);
        return some.size() == others.size() && a.size() == others.size() && a.containsAll(others);
    }

    /** Returns what is wrong with the states of the tasks of the simulation that this thread is in, or null. */
    public static String faultOfStates() {
        Simulation simulation = Simulation.here();
        Set<Task> inQueue = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < simulation.tasks.readyCount(); i++) {
            Task t = simulation.tasks.ready(i);
            if (!inQueue.add(t)) return t + " is ready twice";
            if (!simulation.tasks.live().contains(t)) return t + " is ready and done";
        }
        for (Task t : simulation.tasks.live()) {
            if (t.isReady() != inQueue.contains(t)) return t + " says that it is ready: " + t.isReady();
        }
        return null;
    }
}

// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The tasks of a simulation that have not ended, and those of them that are ready, in the order in which they became ready. */
final class Tasks {
    private final Strategy strategy;
    private final List<Task> live = new ArrayList<>();
    private final List<Task> resting = new ArrayList<>(0); // they have yielded, and wait until another has had its turn
    private Task[] ready = new Task[16];
    private int count;

    Tasks(Strategy strategy) {
        this.strategy = strategy;
    }

    void add(Task t) {
        t.at = live.size();
        live.add(t);
        strategy.made(t);
    }

    /** Removes a task that has ended. Returns false if it was removed before. */
    boolean remove(Task t) {
        if (t.hasEnded()) return false;
        Task last = live.remove(live.size() - 1);
        if (last != t) {
            live.set(t.at, last);
            last.at = t.at;
        }
        t.at = -1;
        return true;
    }

    /** Returns the tasks that have not ended, in no particular order. */
    List<Task> live() {
        return live;
    }

    /** Returns how many are ready. */
    int readyCount() {
        return count;
    }

    Task ready(int i) {
        return ready[i];
    }

    void enqueue(Task t) {
        if (t.ready) return;
        t.ready = true;
        if (count == ready.length) ready = Arrays.copyOf(ready, 2 * count);
        ready[count++] = t;
        strategy.pending(t);
    }

    Task dequeue(int i) {
        Task t = ready[i];
        System.arraycopy(ready, i + 1, ready, i, --count - i);
        ready[count] = null;
        t.ready = false;
        return t;
    }

    /** Removes a task from the ready ones, if it is there. */
    void withdraw(Task t) {
        for (int i = 0; i < count; i++) {
            if (ready[i] != t) continue;
            dequeue(i);
            return;
        }
    }

    /** A task yields. */
    void rest(Task t) {
        strategy.yielded(t);
        resting.add(t);
    }

    /** Makes the resting tasks ready again, except {@code running}. */
    void release(Task running) {
        if (resting.isEmpty()) return;
        for (Task t : resting) if (t != running) enqueue(t);
        resting.clear();
    }

    /** Returns whether a task waits to put a value. */
    boolean anyPutWaits() {
        for (Task t : live) if (t.losesValue()) return true;
        return false;
    }
}

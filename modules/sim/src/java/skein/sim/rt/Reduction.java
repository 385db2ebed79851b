// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** A depth-first search of the schedules that can have different results. */
public final class Reduction {
    /** A choice of the last run: the candidate taken, those tried before, those still to try, and those that can be put to sleep. */
    private record Node(int value, BitSet tried, BitSet wanted, BitSet plain) {}

    private List<Node> path = new ArrayList<>();
    private boolean done;

    /** Returns whether no schedule is left. */
    public boolean isDone() {
        return done;
    }

    /** Returns the next schedule. Returns the same one until {@link #learn} has been called. */
    public Races next() {
        List<BitSet> sleepers = new ArrayList<>();
        int[] numbers = new int[path.size()];
        int[] values = new int[path.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
            values[i] = path.get(i).value;
            BitSet others = (BitSet) path.get(i).plain.clone();
            others.clear(values[i]);
            sleepers.add(others);
        }
        return new Races(numbers, values, sleepers);
    }

    /** Learns from the run of the last schedule that {@link #next} has returned. */
    public void learn(Races races, Trace trace) {
        for (int i = path.size(); i < trace.choices(); i++) {
            Node node = new Node(trace.value(i), races.asleep(i), new BitSet(), new BitSet());
            node.tried.set(node.value);
            if (trace.kind(i) != Strategy.Kind.TASK.ordinal() || races.isBlind(i)) node.wanted.set(0, trace.count(i));
            path.add(node);
        }
        races.find((choice, candidate) -> path.get(choice).wanted.set(candidate));
        while (!path.isEmpty()) {
            Node last = path.removeLast();
            last.plain.set(last.value, races.isPlain(path.size()));
            last.wanted.andNot(last.tried);
            int value = last.wanted.nextSetBit(0);
            if (value < 0) continue;
            last.tried.set(value);
            path.add(new Node(value, last.tried, last.wanted, last.plain));
            return;
        }
        done = true;
    }
}

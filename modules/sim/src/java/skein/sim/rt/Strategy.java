// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.SplittableRandom;

/**
 * Makes the choices of a simulation: which task goes first, which arm of an alts is tried first, which of several
 * things the test picks, how long a step takes. Candidate 0 is the default.
 */
public abstract class Strategy {
    /** A kind of choice: the next task, the arm of an alts, an element that the test picks, or whether a rare event happens. */
    public enum Kind {
        TASK,
        ARM,
        PICK,
        CHANCE
    }

    /** The probability that a step takes time. */
    static final double RARE = 1.0 / 16;

    /** Returns a number below {@code n}, which is at least 2. If the choice is among tasks, {@code world} has the candidates. */
    abstract int choose(Kind kind, int n, Simulation world);

    /** A task has been made. */
    void made(Task task) {}

    /** A task has yielded. */
    void yielded(Task task) {}

    /** A task has become ready with a new operation. */
    void pending(Task task) {}

    /** Always the first candidate, except at the choices that are listed. */
    public static class Listed extends Strategy {
        private final int[] numbers; // of choices, ascending
        private final int[] values;
        private int choices;
        private int next;
        private int used;

        public Listed(int[] numbers, int[] values) {
            this.numbers = numbers;
            this.values = values;
        }

        @Override
        int choose(Kind kind, int n, Simulation world) {
            int choice = choices++;
            if (next == numbers.length || numbers[next] != choice) return 0;
            int value = values[next++];
            if (value >= n) return 0;
            used++;
            return value;
        }

        /** Returns how many of the listed choices occurred and had enough candidates. */
        public int used() {
            return used;
        }
    }

    /** Among tasks always the last candidate, otherwise the first. */
    public static final class Reversed extends Strategy {
        @Override
        int choose(Kind kind, int n, Simulation world) {
            return kind == Kind.TASK ? n - 1 : 0;
        }
    }

    /** A strategy that draws random numbers. */
    abstract static class Drawn extends Strategy {
        final SplittableRandom random;

        Drawn(long seed) {
            random = new SplittableRandom(seed);
        }

        @Override
        int choose(Kind kind, int n, Simulation world) {
            return switch (kind) {
                case TASK -> task(n, world);
                case CHANCE -> random.nextDouble() < world.probability() ? 1 + random.nextInt(n - 1) : 0;
                default -> random.nextInt(n);
            };
        }

        abstract int task(int n, Simulation world);
    }

    /** Each task that can run, with the same probability. */
    public static final class Uniform extends Drawn {
        public Uniform(long seed) {
            super(seed);
        }

        @Override
        int task(int n, Simulation world) {
            return random.nextInt(n);
        }
    }

    /** The task that has the highest priority. */
    abstract static class Prioritized extends Drawn {
        Prioritized(long seed) {
            super(seed);
        }

        final int highest(int n, Simulation world) {
            int best = 0;
            for (int i = 1; i < n; i++) if (world.candidate(i).priority > world.candidate(best).priority) best = i;
            return best;
        }

        final long high() {
            return 1 + random.nextLong(Long.MAX_VALUE - 1);
        }
    }

    /**
     * Random priorities, with d - 1 places where the running task falls behind all others.
     *
     * <p>Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees of finding bugs,
     * ASPLOS 2010. Differs: choices are counted, not instructions; a task that yields falls behind as well.
     */
    public static final class Pct extends Prioritized {
        private final int[] changes; // the numbers of choices where a task falls behind
        private int choices;
        private long lowest;

        /** @param choices how many choices of tasks a run is expected to have */
        public Pct(long seed, int d, int choices) {
            super(seed);
            changes = new int[Math.max(0, d - 1)];
            for (int i = 0; i < changes.length; i++) changes[i] = random.nextInt(Math.max(1, choices));
        }

        @Override
        int task(int n, Simulation world) {
            int number = choices++;
            for (int change : changes) if (change == number) world.candidate(highest(n, world)).priority = --lowest;
            return highest(n, world);
        }

        @Override
        void made(Task task) {
            task.priority = high();
        }

        @Override
        void yielded(Task task) {
            task.priority = --lowest;
        }
    }

    /**
     * A random priority for each operation that is about to be done. When one is done, the operations on the same port get new priorities.
     *
     * <p>Yuan, Yang, Gu: Partial order aware concurrency sampling, CAV 2018.
     */
    public static final class Pos extends Prioritized {
        public Pos(long seed) {
            super(seed);
        }

        @Override
        int task(int n, Simulation world) {
            int best = highest(n, world);
            Task first = world.candidate(best);
            Object port = first.doingOn();
            for (int i = 0; i < n; i++) {
                Task other = world.candidate(i);
                if (i != best && port != null && other.doingOn() == port) other.priority = high();
            }
            first.priority = 0;
            return best;
        }

        @Override
        void pending(Task task) {
            task.priority = high();
        }

        @Override
        void yielded(Task task) {
            task.priority = 0;
        }
    }
}

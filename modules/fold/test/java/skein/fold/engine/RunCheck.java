// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.Reduced;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Parts that end in any order, on several threads, some of them reduced or with an exception: what the run makes of them. */
public final class RunCheck extends Run {
    private static final IFn STEP = new AFn() {};
    private static final IFn CONCAT = new AFn() {
        @Override
        public Object invoke(Object left, Object right) {
            return left + "" + right;
        }
    };

    private final List<Part> parts = new ArrayList<>();
    private final List<Integer> order = new ArrayList<>();
    private final AtomicInteger next = new AtomicInteger();
    private final int reducedAt;
    private final int thrownAt;

    private RunCheck(Random random, int n, int reducedAt, int thrownAt) {
        super(
                new Fold(STEP, new IFn[0], STEP, false, false, CONCAT, new Fold.Options(4, 0, true, null, null)),
                new Part(null));
        this.reducedAt = reducedAt;
        this.thrownAt = thrownAt;
        parts.add(head());
        for (int i = 1; i < n; i++) {
            Part part = new Part(null);
            parts.add(part);
            insertAfter(tail(), part);
        }
        for (int i = 0; i < n; i++) order.add(i);
        Collections.shuffle(order, random);
    }

    @Override
    void workOnRoot(Part root) {
        invite();
    }

    @Override
    void work() {
        for (int i; (i = next.getAndIncrement()) < parts.size(); ) {
            int at = order.get(i);
            Part part = parts.get(at);
            if (!attempt(part, () -> stepOn(part, at))) continue;
            if (part.acc instanceof Reduced reduced) {
                part.acc = reduced.deref();
                endAfter(part);
            }
            complete(part);
        }
    }

    private void stepOn(Part part, int at) {
        if (at == thrownAt) throw new IllegalStateException("at " + at);
        part.acc = at == reducedAt ? new Reduced("" + at) : "" + at;
    }

    private static String outcome(Random random, int n, int reducedAt, int thrownAt) {
        try {
            return (String) new RunCheck(random, n, reducedAt, thrownAt).execute();
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }

    /** What a serial fold gives. */
    private static String model(int n, int reducedAt, int thrownAt) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < n; i++) {
            if (i == thrownAt) return "at " + i;
            all.append(i);
            if (i == reducedAt) break;
        }
        return all.toString();
    }

    /** Returns the first of {@code cases} random cases in which the run differs from a serial fold, or null. */
    public static String difference(long seed, int cases) {
        Random random = new Random(seed);
        for (int i = 0; i < cases; i++) {
            int n = 1 + random.nextInt(9);
            int reducedAt = random.nextInt(12);
            int thrownAt = random.nextInt(12);
            String got = outcome(random, n, reducedAt, thrownAt);
            String want = model(n, reducedAt, thrownAt);
            if (!want.equals(got))
                return n + " parts, reduced at " + reducedAt + ", thrown at " + thrownAt + ": " + got;
        }
        return null;
    }
}

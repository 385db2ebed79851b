// SPDX-License-Identifier: Apache-2.0
package skein.fold.memory;

import clojure.lang.AFn;
import org.jetbrains.lincheck.datastructures.Operation;
import skein.fold.spi.Span;

/** Lincheck: a batch to which one thread adds numbers that others take. Each is taken once, in order. */
public class BatchCheck {
    private static final int LIMIT = 3;
    private final Items.Batch batch = new Items.Batch(LIMIT);
    private int added; // of the thread that collects

    @Operation(nonParallelGroup = "collector")
    public boolean add() {
        if (batch.room() == 0) return false;
        batch.add(added++);
        return true;
    }

    @Operation
    public String take() {
        Span taken = batch.take();
        return taken == null
                ? ""
                : (String) taken.reduce(
                        new AFn() {
                            @Override
                            public Object invoke(Object acc, Object x) {
                                return acc + "" + x;
                            }
                        },
                        "",
                        0,
                        taken.size());
    }

    /** Two counters. */
    public static class Model {
        private int added;
        private int taken;

        public boolean add() {
            if (added == LIMIT) return false;
            added++;
            return true;
        }

        public String take() {
            StringBuilder all = new StringBuilder();
            while (taken < added) all.append(taken++);
            return all.toString();
        }
    }
}

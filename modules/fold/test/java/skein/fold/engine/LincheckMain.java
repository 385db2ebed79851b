// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import skein.fold.memory.BatchCheck;

/**
 * Runs the Lincheck checks of the fold engine, in a process of its own because Lincheck rewrites classes. Argument: invocations
 * per scenario. Ends with 1 and the trace when a check fails.
 */
public final class LincheckMain {
    private LincheckMain() {}

    public static void main(String[] args) {
        int invocations = Integer.parseInt(args[0]);
        check(PartCheck.class, PartCheck.Model.class, invocations);
        check(BatchCheck.class, BatchCheck.Model.class, invocations);
        System.out.println("held");
        System.exit(0);
    }

    private static void check(Class<?> subject, Class<?> model, int invocations) {
        new ModelCheckingOptions()
                .iterations(10)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(1)
                .invocationsPerIteration(invocations)
                .sequentialSpecification(model)
                .check(subject);
        new StressOptions()
                .iterations(10)
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(1)
                .invocationsPerIteration(invocations)
                .sequentialSpecification(model)
                .check(subject);
    }
}

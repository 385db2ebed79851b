// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import skein.rt.schedule.RunQueueCheck;

/**
 * Runs the Lincheck checks named on the command line, in a process of their own because Lincheck rewrites
 * classes. Arguments: invocations per scenario, then names. Ends with 1 and the trace when a check fails.
 */
public final class LincheckMain {
    /** The first call of a class rewrites all that it needs, which takes long on a loaded machine. */
    private static final long TIMEOUT_MILLIS = 180_000;

    private LincheckMain() {}

    public static void main(String[] args) {
        int invocations = Integer.parseInt(args[0]);
        for (int i = 1; i < args.length; i++) {
            switch (args[i]) {
                case "channel-0" -> check(ChannelCheck.Capacity0.class, ChannelCheck.Model0.class, invocations);
                case "channel-1" -> check(ChannelCheck.Capacity1.class, ChannelCheck.Model1.class, invocations);
                case "channel-2" -> check(ChannelCheck.Capacity2.class, ChannelCheck.Model2.class, invocations);
                case "put-waits" -> check(PutWaitsCheck.class, PutWaitsCheck.Model.class, invocations);
                case "choice" -> check(ChoiceCheck.class, ChoiceCheck.Model.class, invocations);
                case "run-queue" -> check(RunQueueCheck.class, RunQueueCheck.Model.class, invocations);
                default -> throw new IllegalArgumentException("no check is called " + args[i]);
            }
            System.out.println("held: " + args[i]);
        }
        System.exit(0);
    }

    private static void check(Class<?> subject, Class<?> model, int invocations) {
        new ModelCheckingOptions()
                .iterations(15)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(2)
                .invocationsPerIteration(invocations)
                .invocationTimeout$lincheck(TIMEOUT_MILLIS)
                .sequentialSpecification(model)
                .check(subject);
        new StressOptions()
                .iterations(15)
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(1)
                .invocationsPerIteration(invocations)
                .invocationTimeout$lincheck(TIMEOUT_MILLIS)
                .sequentialSpecification(model)
                .check(subject);
    }
}

// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import java.util.Arrays;
import java.util.function.Consumer;

/** A claim whose work others drop: which interrupts its thread gets, and which remain after it has left. */
public final class ClaimCheck {
    private ClaimCheck() {}

    /** Runs {@code work} in a thread that has entered a claim; returns whether the thread is interrupted after it has left. */
    private static boolean leftInterrupted(Consumer<Claim> work) throws InterruptedException {
        boolean[] left = new boolean[1];
        Claim claim = new Claim();
        Thread thread = new Thread(() -> {
            if (!claim.enter()) throw new AssertionError("a new claim is wanted");
            work.accept(claim);
            claim.leave();
            left[0] = Thread.interrupted();
        });
        thread.start();
        thread.join(20_000);
        if (thread.isAlive()) throw new AssertionError("stuck: " + Arrays.toString(thread.getStackTrace()));
        return left[0];
    }

    /** Lets another thread do {@code work}, and waits for its end in a way that no interrupt ends. */
    private static void elsewhere(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        while (thread.isAlive()) Thread.onSpinWait();
    }

    /** Returns whether dropping a claim interrupts its thread, and leaving it takes that back. */
    public static boolean interruptEndsWithClaim() throws InterruptedException {
        boolean[] inside = new boolean[1];
        boolean left = leftInterrupted(claim -> {
            elsewhere(claim::drop);
            inside[0] = Thread.currentThread().isInterrupted() && claim.isInterrupted();
        });
        return inside[0] && !left;
    }

    /** Returns whether an interrupt that came before the claim was dropped is left. */
    public static boolean earlierInterruptIsKept() throws InterruptedException {
        return leftInterrupted(claim -> {
            Thread.currentThread().interrupt();
            elsewhere(claim::drop);
        });
    }

    /** Returns whether an interrupt that the work has answered stays answered. */
    public static boolean answeredInterruptIsOver() throws InterruptedException {
        return !leftInterrupted(claim -> {
            Thread.currentThread().interrupt();
            Thread.interrupted();
            elsewhere(claim::drop);
        });
    }

    /** Returns whether a claim that nobody wants can't be entered, and a thread that drops its own is not interrupted. */
    public static boolean droppedClaimIsNotEntered() throws InterruptedException {
        Claim claim = new Claim();
        claim.drop();
        return !claim.enter()
                && !leftInterrupted(own -> {
                    own.drop();
                    if (Thread.currentThread().isInterrupted()) throw new AssertionError("interrupted by itself");
                });
    }
}

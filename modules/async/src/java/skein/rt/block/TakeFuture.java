// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.IFn;
import clojure.lang.IPersistentVector;
import clojure.lang.PersistentArrayMap;
import clojure.lang.Tuple;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import skein.rt.Channel;
import skein.rt.Foreign;
import skein.rt.Runner;
import skein.rt.Waiter;
import skein.rt.schedule.Scheduler;

/**
 * One take from a port, as a future of its value. The value is nil if the port is closed; if it was closed with an
 * exception, the future fails with that. The future completes on a worker, unless the value is there at once.
 *
 * <p>No value is lost: cancelling the future, completing it from outside or letting it time out withdraws its take. Once
 * the take has happened, these return false.
 */
public final class TakeFuture extends CompletableFuture<Object> {
    /** The take. The thread that claims it decides how the future ends. */
    private final class Take extends Waiter {
        private final boolean foreign;
        private volatile BooleanSupplier
                withdrawal; // from a port of another kind; set before the take can happen there

        Take(boolean foreign) {
            this.foreign = foreign;
        }

        @Override
        public void withdrawal(BooleanSupplier withdraw) {
            withdrawal = withdraw;
        }

        boolean withdraw() {
            if (foreign) return withdrawal != null && withdrawal.getAsBoolean();
            return ((Channel) port).withdraw(this);
        }

        @Override
        protected void complete(Object result, Runner runner) {
            Scheduler.submit(Callback.task(() -> settle(result)));
        }
    }

    private final Object port;
    private final IFn failure;
    private final Take take;

    private TakeFuture(Object port, IFn failure) {
        this.port = port;
        this.failure = failure;
        take = new Take(!(port instanceof Channel));
    }

    /** Starts a take; {@code failure} is a function that returns the exception that closed a port, or nil. */
    public static TakeFuture start(Object port, IFn failure) {
        TakeFuture future = new TakeFuture(port, failure);
        Object result = port instanceof Channel channel
                ? channel.take(future.take, Runner.current())
                : Foreign.alts(Tuple.create(port), PersistentArrayMap.EMPTY, future.take);
        if (result != null ? result != Channel.NONE : port instanceof Channel) future.settle(result);
        return future;
    }

    private void settle(Object result) {
        Object v = take.foreign ? ((IPersistentVector) result).nth(0) : result;
        Object thrown = v == null ? failure.invoke(port) : null;
        if (thrown == null) super.complete(v);
        else super.completeExceptionally((Throwable) thrown);
    }

    @Override
    public boolean complete(Object value) {
        return take.withdraw() && super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable thrown) {
        return take.withdraw() && super.completeExceptionally(thrown);
    }

    @Override
    public void obtrudeValue(Object value) {
        take.withdraw();
        super.obtrudeValue(value);
    }

    @Override
    public void obtrudeException(Throwable thrown) {
        take.withdraw();
        super.obtrudeException(thrown);
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        return take.withdraw() ? super.cancel(mayInterrupt) : isCancelled();
    }

    @Override
    public CompletableFuture<Object> completeAsync(Supplier<?> supplier, Executor executor) {
        executor.execute(() -> {
            try {
                complete(supplier.get());
            } catch (Throwable t) {
                completeExceptionally(t);
            }
        });
        return this;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}

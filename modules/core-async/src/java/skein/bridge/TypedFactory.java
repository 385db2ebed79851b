// SPDX-License-Identifier: Apache-2.0
package skein.bridge;

import clojure.core.async.impl.buffers.DroppingBuffer;
import clojure.core.async.impl.buffers.FixedBuffer;
import clojure.core.async.impl.buffers.PromiseBuffer;
import clojure.core.async.impl.buffers.SlidingBuffer;
import clojure.lang.IFn;
import skein.rt.Buffer;
import skein.rt.Buffers;
import skein.rt.Channel;
import skein.rt.ChannelFactory;
import skein.rt.Port;
import skein.rt.TransducedChannel;
import skein.rt.UnlimitedChannel;
import skein.rt.schedule.Timeout;

/**
 * Makes Skein's channels and buffers with core.async's types. Each class here extends a class of the runtime, and
 * implements one of core.async's types. The fields {@code buf} are for code that reads that field of core.async's class.
 */
public final class TypedFactory extends ChannelFactory {
    /** Called by {@link ChannelFactory}, once. */
    public TypedFactory() {}

    /** Like {@link Channel}. */
    public static final class Plain extends Channel implements TypedPort {
        /** The buffer, or null. */
        public final Buffer buf;

        Plain(Buffer buffer) {
            super(buffer);
            buf = buffer;
        }
    }

    /** Like {@link TransducedChannel}. */
    public static final class Transduced extends TransducedChannel implements TypedPort {
        /** The buffer. */
        public final Buffer buf;

        Transduced(Buffer buffer, IFn xform, IFn exceptionHandler) {
            super(buffer, xform, exceptionHandler);
            buf = buffer;
        }
    }

    /** Like {@link UnlimitedChannel}. */
    public static final class Unlimited extends UnlimitedChannel implements TypedPort {
        /** The buffer, or null. */
        public final Buffer buf;

        Unlimited(Buffer buffer, Object label) {
            super(buffer, label);
            buf = buffer;
        }
    }

    /** Like {@link Port}. */
    public static final class Result extends Port implements TypedPort {
        /** Always null: a result needs no buffer while a take waits for it. */
        public final Buffer buf = null;
    }

    /** Like {@link Timeout}. */
    public static final class Delay extends Timeout implements TypedPort {
        /** Always null. */
        public final Buffer buf = null;

        Delay(long deadlineNanos) {
            super(deadlineNanos);
        }
    }

    /** Like {@link Buffers.Fixed}. */
    public static final class Fixed extends Buffers.Fixed implements FixedBuffer, TypedBuffer {
        Fixed(int n) {
            super(n);
        }
    }

    /** Like {@link Buffers.Dropping}. */
    public static final class Dropping extends Buffers.Dropping implements DroppingBuffer, TypedBuffer {
        Dropping(int n) {
            super(n);
        }
    }

    /** Like {@link Buffers.Sliding}. */
    public static final class Sliding extends Buffers.Sliding implements SlidingBuffer, TypedBuffer {
        Sliding(int n) {
            super(n);
        }
    }

    /** Like {@link Buffers.Promise}. */
    public static final class Promised extends Buffers.Promise implements PromiseBuffer, TypedBuffer {}

    @Override
    public Channel channel(Buffer buffer) {
        return new Plain(buffer);
    }

    @Override
    public Channel transduced(Buffer buffer, IFn xform, IFn exceptionHandler) {
        return new Transduced(buffer, xform, exceptionHandler);
    }

    @Override
    public UnlimitedChannel unlimited(Buffer buffer, Object label) {
        return new Unlimited(buffer, label);
    }

    @Override
    public Port port() {
        return new Result();
    }

    @Override
    public Timeout timeout(long deadlineNanos) {
        return new Delay(deadlineNanos);
    }

    @Override
    public Buffer fixed(int n) {
        return new Fixed(n);
    }

    @Override
    public Buffer dropping(int n) {
        return new Dropping(n);
    }

    @Override
    public Buffer sliding(int n) {
        return new Sliding(n);
    }

    @Override
    public Buffer promise() {
        return new Promised();
    }
}

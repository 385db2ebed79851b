// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;
import skein.rt.schedule.Timeout;

/**
 * Makes the channels and buffers that users get. The bridge to core.async has a subclass, whose channels and buffers also
 * have core.async's types. It is found by its name when the first channel is made. So either all channels of a process
 * have these types, or none has.
 */
public class ChannelFactory {
    private static final String BRIDGE = "skein.bridge.TypedFactory";

    /** The factory of this process: the bridge's if the bridge is on the class path. */
    public static final ChannelFactory INSTANCE = find();

    /** For subclasses; others use {@link #INSTANCE}. */
    protected ChannelFactory() {}

    private static ChannelFactory find() {
        try {
            Class<?> bridge = Class.forName(BRIDGE, true, ChannelFactory.class.getClassLoader());
            return (ChannelFactory) bridge.getConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            return new ChannelFactory();
        } catch (ReflectiveOperationException e) { // a bridge of another version
            throw new IllegalStateException("The bridge on the class path does not fit this version of Skein.", e);
        }
    }

    /** Returns a channel with this buffer; null means none. */
    public Channel channel(Buffer buffer) {
        return new Channel(buffer);
    }

    /** Returns a channel with a transducer; see {@link TransducedChannel}. */
    public Channel transduced(Buffer buffer, IFn xform, IFn exceptionHandler) {
        return new TransducedChannel(buffer, xform, exceptionHandler);
    }

    /** Returns a channel in which any number of operations may wait; see {@link UnlimitedChannel}. */
    public UnlimitedChannel unlimited(Buffer buffer, Object label) {
        return new UnlimitedChannel(buffer, label);
    }

    /** Returns a port for a block's result. */
    public Port port() {
        return new Port();
    }

    /** Returns a timeout that is not started yet; see {@link Timeout#at}. */
    public Timeout timeout(long deadlineNanos) {
        return new Timeout(deadlineNanos);
    }

    /** Returns a buffer that is full when it holds {@code n} values. */
    public Buffer fixed(int n) {
        return new Buffers.Fixed(n);
    }

    /** Returns a buffer that drops the newest value. */
    public Buffer dropping(int n) {
        return new Buffers.Dropping(n);
    }

    /** Returns a buffer that drops the oldest value. */
    public Buffer sliding(int n) {
        return new Buffers.Sliding(n);
    }

    /** Returns a buffer that keeps its first value for ever. */
    public Buffer promise() {
        return new Buffers.Promise();
    }
}

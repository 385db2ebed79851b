// SPDX-License-Identifier: Apache-2.0
package skein.rt;

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

    /** Returns a channel; see {@link Channel}. */
    public Channel channel(Buffer buffer, Role role) {
        return new Channel(buffer, role);
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

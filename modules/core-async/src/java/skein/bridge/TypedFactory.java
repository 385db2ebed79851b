// SPDX-License-Identifier: Apache-2.0
package skein.bridge;

import clojure.core.async.impl.buffers.DroppingBuffer;
import clojure.core.async.impl.buffers.FixedBuffer;
import clojure.core.async.impl.buffers.PromiseBuffer;
import clojure.core.async.impl.buffers.SlidingBuffer;
import clojure.core.async.impl.channels.ManyToManyChannel;
import skein.rt.Buffer;
import skein.rt.Channel;
import skein.rt.ChannelFactory;
import skein.rt.Role;

/** Makes Skein's channels and buffers with core.async's types. */
public final class TypedFactory extends ChannelFactory {
    /** Called by {@link ChannelFactory}, once. */
    public TypedFactory() {}

    @Override
    public Channel channel(Buffer buffer, Role role) {
        return new ManyToManyChannel(buffer, role);
    }

    @Override
    public Buffer fixed(int n) {
        return new FixedBuffer(n);
    }

    @Override
    public Buffer dropping(int n) {
        return new DroppingBuffer(n);
    }

    @Override
    public Buffer sliding(int n) {
        return new SlidingBuffer(n);
    }

    @Override
    public Buffer promise() {
        return new PromiseBuffer();
    }
}

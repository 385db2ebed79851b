// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.channels;

import clojure.core.async.impl.protocols.Channel;
import clojure.core.async.impl.protocols.ReadPort;
import clojure.core.async.impl.protocols.WritePort;
import clojure.lang.RT;
import clojure.lang.Var;
import skein.rt.Buffer;
import skein.rt.Role;

/**
 * The class of all channels that users get on the bridge, under the name of core.async's class. Its methods are those of
 * core.async's types; Skein's own operations do not use them.
 */
public final class ManyToManyChannel extends skein.rt.Channel implements ReadPort, WritePort, Channel {
    private static final Var TAKE = RT.var("skein.async.spi", "take!"); // loaded with core.async's protocols
    private static final Var PUT = RT.var("skein.async.spi", "put!");

    /** The buffer, or null, for code that reads this field of core.async's class. */
    public final Object buf;

    /** Called by the bridge's {@link skein.rt.ChannelFactory}. */
    public ManyToManyChannel(Buffer buffer, Role role) {
        super(buffer, role);
        buf = buffer;
    }

    @Override
    public Object take_BANG_(Object handler) {
        return TAKE.invoke(this, handler);
    }

    @Override
    public Object put_BANG_(Object value, Object handler) {
        return PUT.invoke(this, value, handler);
    }

    @Override
    public Object close_BANG_() {
        close();
        return null;
    }

    @Override
    public Object closed_QMARK_() {
        return isClosed();
    }
}

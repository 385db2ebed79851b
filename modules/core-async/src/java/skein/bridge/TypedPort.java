// SPDX-License-Identifier: Apache-2.0
package skein.bridge;

import clojure.core.async.impl.channels.ManyToManyChannel;
import clojure.lang.IFn;
import clojure.lang.Symbol;
import skein.rt.Channel;
import skein.rt.Late;

/** The methods of core.async's types for a channel of the runtime. Skein's own operations do not use them. */
interface TypedPort extends ManyToManyChannel {
    private static IFn protocol(String method) {
        return Late.var(Symbol.intern("skein.impl.protocols", method));
    }

    @Override
    default Object take_BANG_(Object handler) {
        return protocol("take!").invoke(this, handler);
    }

    @Override
    default Object put_BANG_(Object value, Object handler) {
        return protocol("put!").invoke(this, value, handler);
    }

    @Override
    default Object close_BANG_() {
        ((Channel) this).close();
        return null;
    }

    @Override
    default Object closed_QMARK_() {
        return ((Channel) this).isClosed();
    }
}

// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** A port from which values can be taken, under core.async's name. */
public interface ReadPort {
    /** Takes for a handler; see skein.async.spi/take!. */
    Object take_BANG_(Object handler);
}

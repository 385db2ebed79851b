// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** What values can be taken from, under core.async's name. */
public interface ReadPort {
    /** Takes for a handler; see skein.impl.protocols/take!. */
    Object take_BANG_(Object handler);
}

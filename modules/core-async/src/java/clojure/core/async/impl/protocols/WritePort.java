// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** A port on which values can be put, under core.async's name. */
public interface WritePort {
    /** Puts for a handler; see skein.async.spi/put!. */
    Object put_BANG_(Object value, Object handler);
}

// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;

/**
 * A strand's own reducing functions.
 *
 * @param steps at i what the elements that leave stage i - 1 meet; the last one is the fold's own step
 * @param step what the source's elements meet: the first of {@code steps}, or a primitive form of it
 */
record Chain(IFn[] steps, IFn step) { }

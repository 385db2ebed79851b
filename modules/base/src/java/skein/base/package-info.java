// SPDX-License-Identifier: Apache-2.0

/** What the Java of the other modules shares: {@link skein.base.Internals}, by which it reaches into Clojure. */
package skein.base;

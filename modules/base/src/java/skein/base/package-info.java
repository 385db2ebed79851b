// SPDX-License-Identifier: Apache-2.0

/**
 * The Java code that all modules share: {@link skein.base.Internals}, which reads internals of Clojure, and {@link skein.base.Launch},
 * which starts compiled programs.
 */
package skein.base;

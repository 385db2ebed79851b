// SPDX-License-Identifier: Apache-2.0

/** The Java code that all modules share: {@link skein.base.Internals}, which reads internals of Clojure. */
package skein.base;

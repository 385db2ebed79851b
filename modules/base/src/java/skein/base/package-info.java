// SPDX-License-Identifier: Apache-2.0

/**
 * The Java code that all modules share: {@link skein.base.Internals}, which reads internals of Clojure, {@link
 * skein.base.Launch}, which starts compiled programs, and the exception {@link skein.base.TimeoutException}.
 */
package skein.base;

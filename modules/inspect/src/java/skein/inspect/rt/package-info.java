// SPDX-License-Identifier: Apache-2.0

/** The data that the inspector keeps while it is on: an entry for each block, and the threads that wait. Clojure code reads it. */
package skein.inspect.rt;

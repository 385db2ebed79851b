// SPDX-License-Identifier: Apache-2.0

/** What the inspector keeps while it is on: an entry for each block, and which threads wait. Reading it is Clojure's. */
package skein.inspect.rt;

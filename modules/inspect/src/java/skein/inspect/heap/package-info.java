// SPDX-License-Identifier: Apache-2.0

/** Heap files as the JVM writes them, and what of one a program could still reach. */
package skein.inspect.heap;

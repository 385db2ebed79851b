// SPDX-License-Identifier: Apache-2.0

/** Heap files of the JVM, and the objects in them that a program could still reach. */
package skein.inspect.heap;

// SPDX-License-Identifier: Apache-2.0
/** Sources in memory: spans of vectors, arrays and ranges, and feeds of sequences and iterators. */
package skein.fold.memory;

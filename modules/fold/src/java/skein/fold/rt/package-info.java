// SPDX-License-Identifier: Apache-2.0
/**
 * The engine of {@code skein.fold}: reduces parts of a source on several threads and combines neighbours.
 *
 * <p>A <b>span</b> is a source whose parts can be reduced separately, by position. A <b>feed</b> is one that can only be read on.
 * A <b>strand</b> is a part of a fold with an accumulator of its own; strands stand in a list in the source's order. A
 * <b>block</b> is what a thread takes from a strand at a time, sized by measured cost. A <b>run</b> is one fold under
 * way; its <b>helpers</b> are threads of the <b>crew</b> that take the later half of somebody's strand, and come back for more.
 *
 * <p>The idea of cutting only when a thread asks for work is lazy binary splitting [1]; here the thief cuts, so that a
 * strand which nobody wants is never cut and its owner does nothing but take blocks.
 *
 * <p>[1] Tzannes, Caragea, Vishkin, Barua: Lazy Scheduling: A Runtime Adaptive Scheduler for Declarative Parallelism. ACM
 * TOPLAS 36(3), 2014.
 */
package skein.fold.rt;

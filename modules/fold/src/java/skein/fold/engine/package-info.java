// SPDX-License-Identifier: Apache-2.0
/**
 * The engine that runs folds; {@code doc/folds-inside.md} describes it and defines the words.
 *
 * <p>A {@link skein.fold.engine.Start} folds on the caller's thread, since most folds end before a helper could start. If the
 * rest is worth help, a {@link skein.fold.engine.Run} shares it with helpers: by position ({@link skein.fold.engine.SpanRun}) or
 * block by block as it is read ({@link skein.fold.engine.FeedRun}).
 *
 * <p>A helper splits the part that has most left, as in lazy binary splitting [1]. There the owner splits when its queue is empty. Here
 * the owner only takes blocks, and a part is split only if a helper needs work.
 *
 * <p>[1] Tzannes, Caragea, Vishkin, Barua: Lazy Scheduling: A Runtime Adaptive Scheduler for Declarative Parallelism. ACM
 * TOPLAS 36(3), 2014.
 */
package skein.fold.engine;

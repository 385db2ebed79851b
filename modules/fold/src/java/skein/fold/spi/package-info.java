// SPDX-License-Identifier: Apache-2.0
/**
 * The interfaces for sources of your own: a {@link skein.fold.spi.Span} if its parts can be reduced by position, a {@link
 * skein.fold.spi.Feed} if it can only be read in order. A {@link skein.fold.spi.Slice} is an element of a file that is read as bytes.
 */
package skein.fold.spi;

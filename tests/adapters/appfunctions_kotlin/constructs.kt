// Kotlin that kotlinc takes, each part with its title: whatever of it is around a function, the function is read.

//// a reference of a nullable type
val r = Any?::toString

//// a reference of a generic type
val r1 = List<String>::size

//// a bound reference
val r2 = other::size

//// a reference without a receiver
val r3 = ::main

//// a class literal
val r4 = Array<String>::class

//// guards in when
fun w(x: Any) = when (x) { is String if x.length > 3 -> 1; is Int if (x > 1) -> 2
 else if x == 2 -> 4
 else -> 3 }

//// several dollars
val d = $$"a $x $$x ${y} $${"in }"}"

//// several dollars raw
val d7 = $$"""a " $x $$x ${ $${"}"} """

//// an explicit backing field
val b: List<Int>
    field = mutableListOf()

//// an explicit backing field typed
val b9: List<Int>
    private field: MutableList<Int> = mutableListOf<Int>()
    get() = field

//// an annotation for all
data class All(@all:Deprecated("x") val open: String)

//// a property named open
private val open = 1

//// soft keywords as names
fun get(value: Int, data: String, inner: Int, out: Long, file: Any, by: Int, where: Int): Int = value

//// soft keywords as properties
val data = 1
var get = 2
val set: Int = 3
val init = 1
val constructor = 2
val companion: Int get() = 3
val value = by
val context = 1

//// a composable in parentheses
fun c(x: (@Composable (() -> Unit))?) {}

//// composables
fun c(x: @Composable () -> Unit, y: (@Composable () -> Unit)? = null, z: @Composable (Int) -> Unit = {}) {}

//// a constructor after KDoc
class K
/** Doc. */
@Deprecated("a") internal constructor(val x: Int) : Any()

//// context parameters
context(log: Log, _: Map<String, (Int) -> Unit>)
fun q() {}

//// context parameters of a property
context(log: Log) val q: Int get() = 1

//// context in a type
fun q(x: context(Log) (Int) -> Unit, y: suspend context(Log) Int.() -> Unit) {}

//// data object
data object D

//// nested comments
/* a /* b */ { ( " */ /** /* */ */ val n = 1 /* } */

//// nested quotes
val s = "a ${ if (b) "c ${ "}" } \" {" else """ " ${ '"' } """ } {"

//// raw texts
val s23 = """ ${"$"}{ \" " "" """
val t = """a"""" + """""""

//// characters
val c = '{'
val d24 = '\''
val e = '"'
val f = '\u007B'

//// use-site targets
@get:A @set:[A B(1)] @field:A(x = [1, 2], y = B("}")) @param:A var p = 1
@setparam:A var q25 = 2
@property:A val r25 = 3
@delegate:A val s25 by lazy { 1 }
fun @receiver:A String.x() {}

//// annotations with arrays
@A([1, 2], ["a", "b"], *[C::class], x = {}) @[B C(1) a.b.D] fun y() {}

//// fun interface
fun interface I { fun run(x: Int): String }

//// value class
@JvmInline value class V(val value: Int) { init { require(value > 0) { "}" } } }

//// contracts
fun k(x: Any?): Boolean { contract { returns(true) implies (x != null) }
 return x != null }

//// trailing commas
class T<A, B,>(val a: A, val b: B,) : Any(), I<A, B,>
fun <T,> tc(a: Int, b: (Int, Int,) -> Int,): Map<Int, T,> = foo<Int, T,>(a, b,)

//// labels
fun l() = run outer@{ for (x in y) { return@outer } }
fun m() = x@ { this@m; break@x }
val n31 = foo l@ { 1 }

//// destructuring
fun ds() { val (a, b) = x; for ((c, _) in y) {}
 z.map { (d, e) -> d } }

//// nested type alias
typealias TA<T> = Map<String, (T) -> Unit>

//// definitely non-null
fun <T> dn(x: T & Any, y: List<T & Any>): (T & Any)? = null

//// suspended types
val su: suspend (Int) -> Unit = {}
val sv: (suspend Int.(String) -> Unit)? = null
fun sw(x: suspend () -> Unit = suspend { }) {}

//// receiver functions
val rf: Int.(String) -> Unit = {}
fun (Int.() -> Unit).g(x: (Int) -> (String) -> Unit) {}
fun ((Int) -> Unit)?.h() {}
fun <T : Any> List<Map<T, *>>?.i(): T? where T : Comparable<T>, T : Any = null

//// unsigned literals
val u = 1u + 0xFFuL - 1_000UL * 0b11u
val v = 1e5 + .5f - 1.0e-3F..2.5

//// enum entries
enum class E(val x: Int) { /** A. */ @A ONE(1) { override fun g() = "}" }, TWO(2), open_(3), ; abstract fun g(): String
 companion object { val y = entries } }
enum class E2 { A, B }
enum class E3 { ; val x = 1 }

//// companion
class CO { companion object : I by x { fun c() {} }
 private companion object Named
 val y = 1 }

//// delegation
class DE(x: I) : I by x, J by lazy(LazyMode), K(1) {
 fun d() {} }
class DF : I by object : I { fun d() {} }, J

//// delegates
val de: Int by lazy { 1 }
var df by Delegates.observable(1) { _, a, b -> a < b }
val dg by map

//// accessors
var a1: Int = 1
    get() { return field }
    @A private set(value) { field = value }
var a2 = 1; private set
var a3: Int
    get() = 1
    inline set(x: Int) {}
lateinit var a4: String
    private set
val a5 get() = 1

//// extension properties
val String.e1: Int get() = 1
var <T> List<T>.e2: T?
 get() = null
 set(v) {}
val String?.e3 get() = 2
val @A String.e4: Int get() = 3

//// comparisons and generics
val g1 = a < b && c > d
val g2 = foo<Int>(1)
val g3 = foo(a < b, c > (d))
val g4 = if (a < b) c else d
val g5 = x as? List<Int> ?: y
val g6 = a is Map<Int, String> && b !is C
val g7 = a in b..<c || d !in e

//// operators on the next line
val o1 = a
    ?.b
    ?: c
    && d
    || e
    .f { }
    as G
val o2 = a +
    b
val o3 = a
    .b!!
    .c!!.d++

//// if else chains
val i1 = if (a) b else if (c) d
    else
    e
val i2 = if (a) { b }
    else { c }
val i3 = if (a) b; else c
fun i4() = if (a) return else throw b ?: c
fun i5() = if (x) { 1 } else { 2 } + 3

//// try and when
val t1 = try { a } catch (e: E) { b } catch (@A e: F) { c } finally { d }
val t2 = when { a -> b; else -> c }.d
val t3 = when (val x = y) { 1, 2 -> { } in 3..4 -> 5
 is A -> 6; else -> 7 }

//// anonymous objects
val ob = object : A(), B by c { fun d() {} }
val oc = object { val x = 1 }.x
fun od() = object : A {}

//// anonymous functions
val f1 = fun(x: Int): Int { return x }
val f2 = fun Int.(x: Int) = x + this
val f3 = fun() {}
val f4 = foo @A { }
val f5 = foo(fun(a, b): Int = a)

//// lambdas
val l1 = { a: Int, (b, c): D -> a }
val l2: () -> Unit = {}
val l3 = a.b { }.c { x -> { y } }({ 1 })
val l4 = @A { }
val l5 = foo(1) { } () [2]

//// back-ticked names
fun `a b (c)`(`in`: Int, `fun`: `class`): `is a` = `object`.`val`

//// several on a line
val m1 = 1; val m2 = 2; fun m3() {}; class M4; ;

//// a class on several lines
abstract class ML<
    out A : Any,
    @X in B,
>
@Inject
constructor(
    /** A. */
    private val a: A,
    vararg val b: Int = 1,
) :
    Any(),
    I<A>
    where A : I<A>,
          B : Any
{
    fun x() {}
}

//// a function on several lines
@A
public
    inline
fun
    <reified T>
    T
    .ml
    (
    crossinline x: () -> Unit,
    noinline y: () -> Unit
)
    :
    Int
    where T : Any
    =
    1

//// secondary constructors
class SC { constructor(x: Int) : this() { y() }
 @A private constructor() : super(1)
 init { z() } }

//// an annotation class
@Target(AnnotationTarget.CLASS, AnnotationTarget.FUNCTION)
@Repeatable
annotation class AC(val value: Array<String> = ["a"], val x: KClass<*> = A::class)

//// sealed classes
sealed interface SE { data class A(val x: Int) : SE; data object B : SE; class C : SE }

//// operator functions
operator fun Int.plus(x: Int) = x
infix fun Int.foo(x: Int): Int = this foo x
tailrec fun tr(x: Int): Int = if (x > 0) tr(x - 1) else 0
external fun ex(): Int
expect fun ey(): Int

//// calls with type arguments
val ct = foo<A, B<C>>().bar<D?>(x)<E>(y)
val cu = listOf<suspend () -> Unit>()

//// empty texts
val et = "" + """""" + $$"" + "\\" + "\"" + "$" + "$ $1"

//// a local class
fun lc() { class L { fun x() {} }
 fun y() {}
 object O {} }

//// semicolon after a body
class SB {};
fun sc() {};

//// a contract in the head
fun ch(x: Any?): Boolean contract [ returns(true) implies (x != null) ] { return true }

//// dynamic
fun dy(x: dynamic): dynamic = x

//// array types
fun ar(vararg x: Array<out Array<*>>, y: Array<in Int>) {}

//// KDoc inside of heads
fun kf() /** d */ {}
fun /** d */ kg() {}
@A /** d */ private fun kh() {}
/** c */ @A /** d */ fun ki(/** e */ x: Int) {}
class /** a */ KA /** b */ (/** p */ val x: Int)
class KB : /** q */ D()
@A /** d */ class KC { /** e */ }
